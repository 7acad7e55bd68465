# Everything runs in .venv, which these rules make from the project's own files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install -c constraints-dev.txt
SOURCES := src tests benchmarks scripts examples docs attack

.PHONY: report test lint coverage bench attack docs package floors licences advisories clean

report: $(VENV)/.core
	$(BIN)/fairlimits report adult -o report.html

test: $(VENV)/.browser lint
	$(BIN)/python -m pytest -rs -n auto --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

coverage: $(VENV)/.browser
	COVERAGE_FILE=$(VENV)/.coverage $(BIN)/python -m pytest -n auto --dist loadfile \
	  --cov=fairlimits --cov-branch --cov-report=term:skip-covered

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# The site, without network: examples and notebooks are executed, and every page is opened in a browser.
docs: $(VENV)/.docs $(VENV)/.browser
	rm -rf docs/reference/generated
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees -b html docs docs/_build/html
	$(BIN)/python scripts/execute_notebooks.py docs/_build/html
	$(BIN)/python scripts/check_site.py docs/_build/html
	$(BIN)/python -m pytest -rs tests/test_migrating.py

# About an hour; what was stopped goes on where it was. One area alone: make attack AREAS='"bit flips" --cases 500'.
attack: $(VENV)/.dev
	$(BIN)/python -m attack $(AREAS)

# The wheel is built from the sdist, and both are tried away from the source tree.
package: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python scripts/check_package.py

# The lowest versions that pyproject.toml allows, in an environment of their own.
floors:
	$(PYTHON) scripts/try_versions.py

licences: $(VENV)/.dev
	$(BIN)/python scripts/list_licences.py

# Known vulnerabilities of what is installed. This asks a public service, so it needs the network; without it, it fails.
advisories: $(VENV)/.dev
	$(PIP) pip-audit
	$(BIN)/python -m pip_audit --local --skip-editable --strict

$(VENV)/.core: pyproject.toml constraints-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) -e '.[dev]'
	touch $@

# error-parity's release asks for numpy below 2 and runs with both, so it comes without its dependencies.
$(VENV)/.docs: $(VENV)/.dev
	$(PIP) -e '.[dev,docs]'
	$(PIP) --no-deps error-parity
	touch $@

# The explorer is tested in a real browser, where one is there or can be had.
$(VENV)/.browser: $(VENV)/.dev
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get && { apt-get -qq update; \
	    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium >/dev/null; }; } || \
	  $(BIN)/python -m playwright install chromium || \
	  echo "No Chromium could be installed: the browser tests will be skipped."
	touch $@

clean:
	rm -rf $(VENV) dist report.html docs/_build docs/gallery docs/reference/generated
