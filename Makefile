# Every target does its own set-up in .venv; nothing outside this folder is touched.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: setup demo test check lint types imports unit bench docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

# More options go in ARGS: make demo ARGS="--min-pass-rate 0.9"
demo: $(STAMP)   ## run the quickstart eval: no key, no network
	PATH="$(CURDIR)/$(BIN):$$PATH" agentv eval examples/quickstart/triage.eval.yaml --workers 4 $(ARGS)

test: check      ## everything CI checks

check: lint types imports unit

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/python -m pytest

bench: $(STAMP)  ## speed and memory figures, with ratios to bare Python
	$(BIN)/python -m benchmarks

docs: $(STAMP)   ## write the generated parts of docs/ anew
	$(BIN)/python tests/docs/regenerate.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
