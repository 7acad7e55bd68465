# Everything runs in .venv, which these rules make from the project's own files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install -c constraints-dev.txt
SOURCES := src tests benchmarks scripts

.PHONY: report test lint coverage bench package clean

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

# The wheel is built from the sdist, and both are tried away from the source tree.
package: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python scripts/check_package.py

$(VENV)/.core: pyproject.toml constraints-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) -e '.[dev]'
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
	rm -rf $(VENV) dist report.html
