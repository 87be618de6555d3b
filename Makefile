.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
STAMP := .venv/.stamp
STAMP_PIPELINE := .venv/.stamp-pipeline
LOCK_ANY := uv pip compile --python-version 3.11 --upgrade --generate-hashes --no-emit-index-url --no-annotate --no-header
LOCK := $(LOCK_ANY) --universal
LOCK_CLUSTER := $(LOCK_ANY) --python-platform x86_64-manylinux_2_28
SAM_VERSION := 1.170.0
SAM := .venv/sam-$(SAM_VERSION)/bin/sam
SPARK_FLOOR := 4.0.2
FLOOR := .venv/spark-$(SPARK_FLOOR)
WORKERS ?= 2
PIPELINE_TESTS := tests/pipeline tests/cluster
TEST := $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal $(PIPELINE_TESTS:%=--ignore=%)
# A file at a time: each worker of the tests has a Spark of its own.
TEST_PIPELINE := $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile

.PHONY: help
help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z\/-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(STAMP) ## Make .venv with everything that the rest needs
	@:

$(STAMP): requirements.lock pyproject.toml
	@[[ -x $(BIN)/python ]] || { \
		for python in python3 python3.14 python3.13 python3.12 python3.11; do \
			$$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || continue; \
			exec $$python -m venv .venv; \
		done; \
		echo "minutehand needs Python 3.11 or newer, with venv: none of python3, python3.14 to python3.11 is that." >&2; \
		exit 1; \
	}
	@echo "setup       once, a minute or two"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: setup/pipeline
setup/pipeline: $(STAMP_PIPELINE) ## Add what the pipeline needs, Spark among it, to .venv
	@:

$(STAMP_PIPELINE): $(STAMP) requirements-pipeline.lock
	@echo "setup       once, Spark is large"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-pipeline.lock
	@touch $@

# Beside the newest Spark, of which it takes the place where PYTHONPATH names it.
$(FLOOR): requirements-spark-floor.lock | $(STAMP_PIPELINE)
	@rm -rf $@ $@.new
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target $@.new --requirement $<
	@mv $@.new $@ && touch $@

.PHONY: run
run: setup ## Run it all on this machine, with example webhooks; ARGS="--port 8081"
	@$(BIN)/minutehand dev $(ARGS)

.PHONY: lambda
lambda: setup ## Run the built functions as Lambda would, with example webhooks; ARGS="--every 5"
	@$(BIN)/python -m emulator $(ARGS)

.PHONY: test
test: check ## Run everything that a change must pass
	@$(TEST)
	@$(MAKE) --no-print-directory test/pipeline test/pipeline-floor test/pipeline-kills

.PHONY: test/unit
test/unit: setup ## Run the tests that need neither a server nor Spark
	@$(BIN)/pytest -m "not data" $(PIPELINE_TESTS:%=--ignore=%)

.PHONY: test/data
test/data: setup ## Run the tests on real servers, directly and through a pooler
	@$(TEST) -m data

.PHONY: test/pipeline
test/pipeline: setup/pipeline ## Run the tests of the pipeline on the newest Spark, without the longest
	@$(TEST_PIPELINE) -m "not long" tests/pipeline

.PHONY: test/pipeline-floor
test/pipeline-floor: setup/pipeline $(FLOOR) ## Run them on the oldest Spark
	@PYTHONPATH=$(FLOOR) $(TEST_PIPELINE) -m "not long" tests/pipeline

.PHONY: test/pipeline-kills
test/pipeline-kills: setup/pipeline ## Run what is killed at each labelled point, and the pages of the pipeline
	@$(TEST_PIPELINE) tests/pipeline/archive/test_killed.py tests/pipeline/load/test_load_kill.py tests/pipeline/test_pages.py

.PHONY: test/pipeline-long
test/pipeline-long: setup/pipeline ## Run these and all else that takes minutes: a million rows, an object store, what a terminal shows
	@$(TEST_PIPELINE) -m long tests/pipeline

.PHONY: test/cluster
test/cluster: setup/pipeline ## Run the package on a cluster of two workers, of which one is killed during each verb
	@$(BIN)/pytest tests/cluster

.PHONY: test/sam-local
test/sam-local: setup ## Run `sam local` for real: with the container engine that runs, or as root with dockerd
	@$(BIN)/python -m tests.sam_local.engine
	@$(MAKE) --no-print-directory $(SAM)
	@MINUTEHAND_TEST_SAM=$(SAM) $(BIN)/pytest tests/sam_local

# In an environment of its own: it wants other versions of what we use.
$(SAM):
	@$(BIN)/python -m venv $(SAM:/bin/sam=)
	@$(SAM:/sam=/python) -m pip install --quiet --disable-pip-version-check aws-sam-cli==$(SAM_VERSION)

.PHONY: package/pipeline
package/pipeline: setup ## Package the pipeline for a cluster into dist/; ARGS="--python 3.13"
	@$(BIN)/python pipeline/package.py $(ARGS)

.PHONY: check
check: lint types imports ## Run what reads the code without running it

.PHONY: fmt
fmt: setup ## Format the code and sort its imports
	@$(BIN)/ruff check --quiet --select I --fix .
	@$(BIN)/ruff format --quiet .

.PHONY: lint
lint: setup ## Check the style
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted: make fmt" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .

.PHONY: types
types: setup/pipeline ## Check the types
	@$(BIN)/mypy --no-error-summary

.PHONY: imports
imports: setup ## Check who imports whom
	@$(BIN)/lint-imports --no-logo > .venv/imports.txt || { cat .venv/imports.txt; exit 1; }

.PHONY: bench
bench: setup/pipeline ## Measure how fast it is here
	@$(BIN)/python -m bench

.PHONY: lock
lock: ## Choose the newest versions of everything, for every platform and Python 3.11 on (needs uv)
	$(LOCK) pyproject.toml --extra dev --output-file requirements.lock
	$(LOCK) pyproject.toml --extra dev-pipeline --constraint requirements.lock --output-file requirements-pipeline.lock
	$(LOCK_CLUSTER) pyproject.toml --extra pipeline --extra aws --extra encryption \
		--constraint requirements-pipeline.lock --output-file pipeline/requirements.lock
	echo pyspark==$(SPARK_FLOOR) | $(LOCK) - --no-deps --output-file requirements-spark-floor.lock

.PHONY: db/migrate
db/migrate: setup ## Bring the schema of $DATABASE_URL up to this code
	@$(BIN)/minutehand migrate

.PHONY: db/reset
db/reset: setup ## Stop the Postgres of `make run` and throw its data away
	@$(BIN)/python -c 'from pathlib import Path; from minutehand.local.postgres import stop; stop(Path(".minutehand"))'
	@rm -rf .minutehand

.PHONY: clean
clean: ## Remove what the tools left behind; `make setup` and your data stay
	@rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .aws-sam .emulator
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
