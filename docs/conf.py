"""Settings of the documentation site; `make docs` builds it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

import fairlimits

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
mpl.use("Agg")

project = "fairlimits"
author = "the fairlimits contributors"
copyright = "the fairlimits contributors"
release = version = fairlimits.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "links_out_of_docs",
    "mathml",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5", "gallery/**/*.json"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
# Single backquotes name things of the package, and link to them where they are on the site.
default_role = "autolink"

myst_enable_extensions = ["colon_fence", "deflist"]
# Links to headings, as forges make them.
myst_heading_anchors = 4
# "console" and "text" blocks show what is printed, which is no language.
highlight_language = "python"

autosummary_generate = True
# Some file systems do not tell fairlimits.frontier from fairlimits.Frontier.
autosummary_filename_map = {
    f"fairlimits.{name}": f"fairlimits.{name}-result" for name in ("Audit", "Frontier", "Report", "Tension", "Ceiling")
}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    # A program that fails stops the build.
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    # What a program prints is shown, and not what its last expression is.
    "capture_repr": (),
    "matplotlib_animations": False,
    "copyfile_regex": r".*\.rst",
    "default_thumb_file": None,
    "first_notebook_cell": "# Needs: pip install fairlimits\n%matplotlib inline",
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "fairlimits"
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options: dict[str, Any] = {
    "logo": {"text": "fairlimits"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "changelog": []}
copybutton_prompt_text = re.escape("$ ") + r"|>>> |\.\.\. "
copybutton_prompt_is_regexp = True
