# Every target does its own set-up in .venv; nothing outside this folder is touched.
# The first Python 3.11 or newer that can make a private environment.
CAN_MAKE_VENV := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for found in python3.11 python3 python3.12 python3.13; do \
	$$found -c "$(CAN_MAKE_VENV)" 2>/dev/null && echo $$found && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: setup demo test check lint types imports unit agents test-agents test-vscode bench docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer, with venv, is needed."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
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
	$(BIN)/python tests/agents/install.py --if-possible
	$(BIN)/python -m pytest

test-vscode: $(STAMP)  ## an eval against a real VS Code; 1 GB in .tools the first time
	PYTHONPATH=tests $(BIN)/python -m vscode_real

agents: $(STAMP) ## install Codex and Claude Code, pinned, for the tests that run them; needs npm
	$(BIN)/python tests/agents/install.py

test-agents: $(STAMP) ## all six agents, the real programs, with a model of ours on 127.0.0.1
	$(BIN)/python tests/agents/install.py --all
	$(BIN)/python -m pytest -m agents

bench: $(STAMP)  ## speed and memory figures, with ratios to bare Python
	$(BIN)/python -m benchmarks

docs: $(STAMP)   ## write the generated parts of docs/ anew
	$(BIN)/python tests/docs/regenerate.py

clean:
	rm -rf $(VENV) .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
