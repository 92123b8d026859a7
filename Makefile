# `make demo` and `make test` each set up everything they need on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONSAFEPATH := 1
# Tests start many processes: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test suite lint types links bench serve sync-client docs docs-pages docs-answers docs-serve clean

# Two jobs at once: loops are compiled while packages are installed, types are checked while tests run.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=2
endif

# Python compiles a module when it is first imported; of 20,000 installed ones a run imports a tenth.
INSTALL := $(BIN)/pip install --quiet --no-compile -c constraints.txt
.DEFAULT_GOAL := demo
SOURCES_OF_INSTALL := pyproject.toml setup.py constraints.txt grammar/compiled/pyproject.toml engine/embedded/pyproject.toml

$(VENV)/.created: $(SOURCES_OF_INSTALL)
	$(PYTHON) -m venv $(VENV)
	touch $@

# The inner loops, compiled: a minute and a quarter of a core.
$(VENV)/.loops: $(VENV)/.created
	rm -rf $(VENV)/wheels
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheels ./grammar/compiled
	touch $@

# Two pips must not write one environment at a time: unless only a model is to run, libraries come with the packages for
# development and tests, in one step, and loops are installed last.
LAST := $(if $(filter-out demo serve,$(MAKECMDGOALS)),$(VENV)/.development)

$(VENV)/.libraries: $(VENV)/.created | $(LAST)
	$(if $(LAST),,$(INSTALL) -e ".[libraries]")
	touch $@

$(VENV)/.development: $(VENV)/.created
	$(INSTALL) -e ".[bulk,cluster,dev,docs,documents,libraries,otel]"
	touch $@

# What running a model takes: `.[server]`, but for the model's files, which lie here.
$(VENV)/.running: $(VENV)/.loops $(VENV)/.libraries | $(LAST)
	$(INSTALL) --no-deps --force-reinstall $(VENV)/wheels/*.whl
	touch $@

$(VENV)/.installed: $(VENV)/.running $(VENV)/.development
	$(BIN)/intaglio doctor
	touch $@

demo: $(VENV)/.running
	$(BIN)/intaglio demo

# Types are checked while loops are installed and tests run: the checker uses one core only. Neither it nor the linter
# needs the loops. A fault that either finds fails the run; one of style is found first, before tests begin.
test: lint types suite

# One process more than there are cores: a third of the time of a test of processes is spent waiting.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(len(getattr(os, 'sched_getaffinity', lambda _: '1234')(0)) + 1)")

# All modules are compiled once: processes that begin at the same time would each compile all of them.
$(VENV)/.imported: $(VENV)/.installed
	$(BIN)/pytest --collect-only -qq > $@.log || (cat $@.log; false)
	mv $@.log $@

# Tests that fail run a second time, alone: hundreds of them start processes, and one meets a full machine now and
# then. A test that fails again fails the suite; one that passes is a race to mend, and both reports say its name.
suite: $(VENV)/.imported
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -q || \
	  { [ $$? -eq 1 ] && $(BIN)/pytest --last-failed --last-failed-no-failures none --maxfail 1 -q; }

lint: $(VENV)/.development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Type checkers do not follow the editable install's import hook: give them a tree of links.
links:
	mkdir -p build/typing/intaglio
	for name in engine grammar kernels schemas service; do ln -sfn ../../../$$name build/typing/intaglio/$$name; done
	ln -sfn ../../../service/face/__init__.py build/typing/intaglio/__init__.py

types: $(VENV)/.development links
	$(BIN)/mypy build/typing/intaglio tests examples

bench: $(VENV)/.installed
	$(BIN)/python tests/bench/bench_engine.py

# The asynchronous client is written, the synchronous one generated; a test compares them.
sync-client: $(VENV)/.installed
	$(BIN)/python tests/support/sync_client.py

# The site, in build/site; fails on any warning.
docs: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Pages of docs/reference that are generated from the code; a test compares them.
docs-pages: $(VENV)/.installed
	PYTHONPATH=. $(BIN)/python -m tests.support.pages

# Runs every snippet and writes down what it answered, where that is not what the page says. Read the diff.
docs-answers: $(VENV)/.installed
	PYTHONPATH=. $(BIN)/python -m tests.support.snippets

docs-serve: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# The JSON-Schema-Test-Suite and JSONSchemaBench through the byte machine; fails where the expectations changed.
# Before them what `make test` has samples of: random schedules by the thousand, all kernels compiled for a GPU.
conformance: $(VENV)/.installed
	$(BIN)/pytest -n $(WORKERS) -q tests/property --times 20 --operations 1000000
	PYTHONPATH=. $(BIN)/python -m tests.support.compiled
	PYTHONPATH=. $(BIN)/python tests/conformance/run.py

serve: $(VENV)/.running
	$(BIN)/intaglio serve

clean:
	rm -rf $(VENV) build dist *.egg-info */*/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
