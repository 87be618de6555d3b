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
SUITES := $(addprefix test/,mutations plans servers kill pipeline-long spark-floor cluster containers)
# What the core's tests are on: direct-18, direct-16, direct-15, pgbouncer-18 or wide-pgbouncer-18.
SERVER ?= direct-18
PYTEST := $(BIN)/pytest --numprocesses $(WORKERS)
TEST := $(PYTEST) --dist worksteal --ignore=tests/pipeline --ignore=tests/cluster
# A file at a time: each worker of the tests has a Spark of its own.
TEST_PIPELINE := $(PYTEST) --dist loadfile
OTHER_SERVERS := (every_server or every_version) and not (mutation or plans or kill)

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
test: check test/core test/pipeline ## Run what every change must pass, in at most 10 minutes

.PHONY: test/all
test/all: test $(SUITES) ## Run everything, as before a release

.PHONY: test/core
test/core: setup ## Run the tests of the library, the functions, the template and the command line
	@$(TEST) --server $(SERVER)

.PHONY: test/unit
test/unit: setup ## Run those that need neither a server nor Spark
	@$(BIN)/pytest -m "not (data or containers or long or slow)" --ignore=tests/pipeline --ignore=tests/cluster

.PHONY: test/pipeline
test/pipeline: setup/pipeline ## Run the tests of the pipeline on the newest Spark
	@$(TEST_PIPELINE) -m "not (long or kill)" tests/pipeline

.PHONY: test/mutations
test/mutations: setup ## Put each known fault back into the SQL, which a test must detect
	@$(TEST) -m mutation

.PHONY: test/plans
test/plans: setup ## Explain every statement on large tables
	@$(TEST) --server $(SERVER) --dist loadfile -m plans

.PHONY: test/servers
test/servers: setup ## Run the tests that a server could fail on the oldest Postgres, on another one, and through a pooler
	@$(TEST) --server direct-15 -m "$(OTHER_SERVERS)"
	@$(TEST) --server pgbouncer-18 -m "$(OTHER_SERVERS) and not every_version"
	@$(TEST) --server direct-16 -m every_version tests/flow

.PHONY: test/kill
test/kill: setup/pipeline ## Kill processes at every point of their work
	@$(TEST) --server $(SERVER) -m kill
	@$(TEST_PIPELINE) -m kill tests/pipeline

.PHONY: test/pipeline-long
test/pipeline-long: setup/pipeline ## Run the tests of the pipeline that take minutes, on a million rows and an object store
	@$(TEST_PIPELINE) -m "long and not kill" tests/pipeline

.PHONY: test/spark-floor
test/spark-floor: setup/pipeline $(FLOOR) ## Run the tests of the pipeline on the oldest Spark
	@PYTHONPATH=$(FLOOR) $(TEST_PIPELINE) -m "not (long or kill)" tests/pipeline

.PHONY: test/cluster
test/cluster: setup/pipeline ## Run the package on a cluster of two workers, one of which is killed during each verb
	@$(BIN)/pytest -m cluster tests/cluster

.PHONY: test/containers
test/containers: setup ## Build the layers, and run `sam local` with the container engine that runs, or as root with dockerd
	@$(TEST) -m slow
	@$(BIN)/python -m tests.sam_local.engine
	@$(MAKE) --no-print-directory $(SAM)
	@MINUTEHAND_TEST_SAM=$(SAM) $(BIN)/pytest -m containers tests/sam_local

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

.PHONY: schema
schema: setup ## Write schema/schema.sql, the dump of a migrated database
	@$(BIN)/python -m tests.schema_dump

.PHONY: db/reset
db/reset: setup ## Stop the Postgres of `make run` and throw its data away
	@$(BIN)/python -c 'from pathlib import Path; from minutehand.local.postgres import stop; stop(Path(".minutehand"))'
	@rm -rf .minutehand

.PHONY: clean
clean: ## Remove what the tools left behind; `make setup` and your data stay
	@rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .aws-sam .emulator
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
