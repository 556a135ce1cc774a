# Needs make and Python 3.11 or newer, nothing else; `make` alone lists what it can do.
#
# Everything happens in the environment .venv, which the targets make and renew by themselves: a stamp in it is as old as
# the pins that it was installed from.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Neither a module of the current folder nor the user's own site-packages may stand in for what is pinned.
export PYTHONNOUSERSITE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Else every process that is started compiles the whole package again.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --quiet

# How the tests are run: TESTS="tests/traces -k gzip" for some of them, WORKERS=0 for one process (a debugger wants that).
TESTS ?=
WORKERS ?= 2
BENCH ?=
ROUNDS ?= 10

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

.PHONY: help setup java demo gate papers test coverage lint types bench soak brokers brokers-stop site try wheel lock clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --------------------------------------------------------------------------------------------------------- environment

setup: $(VENV)/.project java ## Make .venv with everything in it, and see to a Java for Spark

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "precedes needs Python 3.11 or newer as $(PYTHON); or say: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python cannot make environments; Debian, Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.packages: requirements/dev.txt $(VENV)/.python
	@echo "installing what is pinned in requirements/dev.txt; the first time this takes some minutes"
	@# Not compiled: Python does that for what is imported.
	$(PIP) install --require-hashes --no-compile -r requirements/dev.txt
	@touch $@

# Without an isolated build, because that would fetch a build backend of its own, unpinned.
$(VENV)/.project: pyproject.toml $(VENV)/.packages
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# Not stamped: it takes a moment, and a Java may come and go without any file of ours changing.
java: $(VENV)/.project
	@$(BIN)/python tools/java.py

# ---------------------------------------------------------------------------------------------------------------- use

# The main job on real input: the figures of the papers, then a recorded trace on both engines. The trace breaks the
# service asked of it, on purpose, so that there is something to see: exit code 1 is what has to come.
SAMPLE ?= traces/rabbitmq-fanout.jsonl.gz
SAMPLE_REQUIRE ?= ST
SAMPLE_EXIT ?= 1

demo: setup ## Judge the papers' figures, then a recorded trace on both engines
	@tools/demo.sh '$(BIN)/precedes' '$(SAMPLE)' '$(SAMPLE_REQUIRE)' '$(SAMPLE_EXIT)'

# PAPERS="delta-causal-max-cb --scale quick" for some of them, or for a glance; `python -m experiments --list` has the names.
PAPERS ?=

papers: $(VENV)/.project ## Run the papers' experiments; figures and data come into build/papers
	$(BIN)/python -m experiments $(PAPERS)

# ---------------------------------------------------------------------------------------------------------------- work

gate: $(VENV)/.project ## Everything that precedes.toml states, against the baseline
	$(BIN)/precedes gate

test: setup ## Run all tests but the slow ones
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadgroup -m "not slow" $(TESTS)

# Apart from `test`, because tracing doubles the time of what explores and simulates.
coverage: setup ## Run the same and report what they cover
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadgroup -m "not slow" --cov --cov-report=term $(TESTS)

lint: $(VENV)/.project ## Check style, format, import rules and the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.house
	$(BIN)/precedes fmt --check specs examples

types: $(VENV)/.project ## Check types, strictly
	$(BIN)/mypy

# BENCH=--quick for a fiftieth of the size; what is made is kept in build/bench.
bench: setup ## Measure ratios side by side: Arrow, DuckDB, Spark, the reference evaluator
	$(BIN)/python -m benchmarks $(BENCH)

# Hypothesis makes other cases every time, unless CI is set; its own marker finds the tests.
soak: setup ## Run the slow tests, with new random cases
	@for round in $$(seq $(ROUNDS)); do \
	  $(BIN)/python -m pytest --quiet --no-header -m "hypothesis or slow" --numprocesses=$(WORKERS) --dist=loadgroup $(TESTS) \
	    || exit 1; \
	done

$(VENV)/.clients: requirements/brokers.txt $(VENV)/.packages
	$(PIP) install --require-hashes -r requirements/brokers.txt
	@touch $@

# Debian's packages, with ports of their own; `python -m tools.recordings` makes the table of docs/brokers.md with them.
brokers: $(VENV)/.clients $(VENV)/.project ## Install and start RabbitMQ, NATS, Redis, Mosquitto on loopback
	@$(BIN)/python -m tools.brokers start

brokers-stop: ## Stop them, and remove what they kept
	@$(PYTHON) -m tools.brokers stop

site: $(VENV)/.project ## Build the documentation into build/site, as pages that need no network
	$(BIN)/python tools/pages.py
	$(BIN)/python -m tools.gallery
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Python for the browser is an npm package; it is kept in build/try and is no part of the sources.
try: site ## Put Python for the browser beside the page "Try it" of the site
	$(BIN)/python -m tools.try_page

wheel: $(VENV)/.project ## Build the wheel and the source archive into dist/
	$(BIN)/python -m build --no-isolation --outdir dist

# `--universal`: one file for all platforms and Pythons. The flags about URLs keep this machine's registries out of it.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCKFLAGS)

lock: $(VENV)/.packages ## Renew the pins in requirements/ (LOCKFLAGS=--upgrade for newer versions)
	$(LOCK) pyproject.toml --extra spark --extra dev -o requirements/dev.txt
	$(LOCK) pyproject.toml --extra spark -c requirements/dev.txt -o requirements/runtime.txt
	$(LOCK) requirements/worker.in -c requirements/dev.txt -o requirements/worker.txt
	$(LOCK) requirements/java.in -o requirements/java.txt
	$(LOCK) requirements/brokers.in -c requirements/dev.txt -o requirements/brokers.txt

clean: ## Remove the environment, caches and what was built
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache \
	  .ruff_cache spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
