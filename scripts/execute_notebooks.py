"""Execute the notebooks of the gallery in the built site, so that readers download them with their results."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient


def main(site: Path) -> None:
    """Execute all notebooks below a directory; an error in one of them stops."""
    found = sorted(site.rglob("*.ipynb"))
    if not found:
        sys.exit(f"There are no notebooks in {site}: build the site first (make docs).")
    for path in found:
        notebook = nbformat.read(path, as_version=4)
        if any(cell.get("outputs") for cell in notebook.cells):
            continue
        # By sockets of the file system, not of the network, at a place that does not depend on where the kernel runs.
        with TemporaryDirectory() as folder:
            km = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
            # Patient, so that a busy machine is no error.
            NotebookClient(notebook, timeout=900, startup_timeout=300, km=km).execute(cwd=str(path.parent))
        nbformat.write(notebook, path)
    print(f"{len(found)} notebooks are executed.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
