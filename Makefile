.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
STAMP := .venv/.stamp
STAMP_RUN := .venv/.stamp-run
STAMP_PIPELINE := .venv/.stamp-pipeline
LOCK_ANY := uv pip compile --python-version 3.11 --upgrade --generate-hashes --no-emit-index-url --no-annotate --no-header
LOCK := $(LOCK_ANY) --universal
NOT_OURS := --no-emit-package minutehand --no-emit-package minutehand-pipeline
LOCK_CLUSTER := $(LOCK_ANY) --python-platform x86_64-manylinux_2_28
SAM_VERSION := 1.170.0
SAM := .venv/sam-$(SAM_VERSION)/bin/sam
TWINE_VERSION := 6.2.0
TWINE := .venv/twine-$(TWINE_VERSION)/bin/twine
# Not the package for clusters, minutehand-pipeline-3.11-x86_64.tar.gz.
DISTRIBUTIONS := dist/*.whl dist/minutehand-[0-9]*.tar.gz dist/minutehand_pipeline-*.tar.gz
SPARK_FLOOR := 4.0.2
FLOOR := .venv/spark-$(SPARK_FLOOR)
DOCS := .venv/docs
# Test processes. The core's tests mostly wait for Postgres; each of the pipeline's processes starts Spark.
WORKERS ?= 4
PIPELINE_WORKERS ?= 2
# Duration of the run of test/soak that has all fences.
SECONDS ?= 60
SUITES := $(addprefix test/,pipeline mutations plans thorough docs programs console install servers kill soak pipeline-long spark-floor cluster containers project)
# Server of the core's tests: direct-18, direct-16, direct-15, pgbouncer-18 or wide-pgbouncer-18.
SERVER ?= direct-18

TEST := $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal --ignore=tests/pipeline --ignore=tests/cluster
# Folders whose tests all belong to other suites, by SUITES in tests/conftest.py. Collecting them takes each process a second.
ELSEWHERE := $(addprefix --ignore=tests/,console local sam_local testing walk)
# For suites with tests of more than ten minutes.
UNLIMITED := -o faulthandler_timeout=0
# One file at a time per worker, because each worker starts a Spark session.
TEST_PIPELINE := $(BIN)/pytest --numprocesses $(PIPELINE_WORKERS) --dist loadfile
OTHER_SERVERS := (every_server or every_version) and not (mutation or plans or kill)
# Their folders. Collecting the tests of all folders takes each process eight seconds.
SERVER_TESTS := $(addprefix tests/,flow functions proof queue testing)

define CREATE_VENV
[[ -x $(BIN)/python ]] || { \
	for python in python3 python3.14 python3.13 python3.12 python3.11; do \
		$$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || continue; \
		exec $$python -m venv .venv; \
	done; \
	echo "minutehand requires Python 3.11 or later with venv; python3 and python3.14 to python3.11 do not meet this." >&2; \
	exit 1; \
}
endef

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z\/-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(STAMP) ## Create .venv with all dependencies except those of the pipeline
	@:

# Alone, with the packages of `make run` only: a quarter of the size.
.PHONY: setup/run
setup/run: $(STAMP_RUN)
	@:

$(STAMP): requirements.lock pyproject.toml pipeline/pyproject.toml
	@$(CREATE_VENV)
	@echo "setup       takes a minute or two, once"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--editable . --editable ./pipeline
	@touch $@ $(STAMP_RUN)

$(STAMP_RUN): requirements-run.lock pyproject.toml
	@$(CREATE_VENV)
	@echo "setup       takes half a minute, once"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement $<
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: setup/pipeline
setup/pipeline: $(STAMP_PIPELINE) ## Add the dependencies of the pipeline, with Spark, to .venv
	@:

$(STAMP_PIPELINE): $(STAMP) requirements-pipeline.lock
	@echo "setup       downloads Spark, once"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-pipeline.lock
	@touch $@

# The oldest supported Spark; on the PYTHONPATH it takes precedence over the newest one.
$(FLOOR): requirements-spark-floor.lock | $(STAMP_PIPELINE)
	@rm -rf $@ $@.new
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --target $@.new --requirement $<
	@mv $@.new $@ && touch $@

.PHONY: run
run: setup/run ## Run everything on this machine, with example webhooks; ARGS="--port 8081"
	@$(BIN)/minutehand dev $(ARGS)

.PHONY: lambda
lambda: setup ## Run the built functions on a local emulation of Lambda, with example webhooks; ARGS="--every 5"
	@$(BIN)/python -m emulator $(ARGS)

.PHONY: test
test: check test/core ## Run the checks that every change must pass, in at most 10 minutes

.PHONY: test/all
test/all: test $(SUITES) ## Run all suites, as before a release

.PHONY: test/core
test/core: setup ## Run the tests of the library, the functions, the template and the command line
	@$(TEST) $(ELSEWHERE) --server $(SERVER)

.PHONY: test/unit
test/unit: setup ## Run the tests that need neither a server nor Spark
	@$(BIN)/pytest -m "not (data or containers or install or long or slow)" --ignore=tests/pipeline --ignore=tests/cluster

.PHONY: test/pipeline
test/pipeline: setup/pipeline ## Run the tests of the pipeline on the newest Spark
	@$(TEST_PIPELINE) -m "not (long or kill)" tests/pipeline

.PHONY: test/mutations
test/mutations: setup ## Reintroduce known faults into the SQL and check that a test detects each
	@$(TEST) -m mutation tests/queue tests/template

.PHONY: test/plans
test/plans: setup ## Check the query plan of every statement on large tables
	@$(TEST) --server $(SERVER) --dist loadfile -m plans tests/proof

.PHONY: test/thorough
test/thorough: setup ## Run the tests with generated examples and many jobs in full
	@MINUTEHAND_TEST_THOROUGH=1 $(TEST) $(UNLIMITED) --server $(SERVER) -m "thorough and not mutation"

.PHONY: test/docs
test/docs: docs ## Build the documentation site, which checks its links

.PHONY: test/programs
test/programs: setup ## Run the tests that start many programs, such as Postgres, `minutehand dev`, pytest and pages of the docs
	@$(TEST) --server $(SERVER) -m "programs and not mutation"

.PHONY: test/console
test/console: setup ## Open the console in Chromium
	@$(TEST) --server $(SERVER) -m console tests/console

.PHONY: test/install
test/install: dist ## Install the wheels into new environments of Python 3.11 to 3.14, as far as they are there, and run the docs there
	@$(BIN)/pytest $(UNLIMITED) -m install tests/distributions

.PHONY: test/servers
test/servers: setup ## Run the server-dependent tests on the oldest and another Postgres, and through a pooler
	@$(TEST) --server direct-15 -m "$(OTHER_SERVERS)" $(SERVER_TESTS)
	@$(TEST) --server pgbouncer-18 -m "$(OTHER_SERVERS) and not every_version" $(SERVER_TESTS)
	@$(TEST) --server direct-16 -m every_version tests/flow

.PHONY: test/kill
test/kill: setup/pipeline ## Kill processes at every point of their work, and check that no job is lost
	@$(TEST) $(UNLIMITED) --server $(SERVER) -m kill tests/proof
	@$(TEST_PIPELINE) $(UNLIMITED) -m kill tests/pipeline

.PHONY: test/soak
test/soak: setup ## Run the stack under faults, and check the handlers' records; SECONDS=3600
	@MINUTEHAND_SOAK_SECONDS=$(SECONDS) $(BIN)/pytest $(UNLIMITED) -s -m soak tests/soak

.PHONY: test/pipeline-long
test/pipeline-long: setup/pipeline ## Run the slow tests of the pipeline, on a million rows and an object store
	@$(TEST_PIPELINE) $(UNLIMITED) -m "long and not kill" tests/pipeline

.PHONY: test/spark-floor
test/spark-floor: setup/pipeline $(FLOOR) ## Run the tests of the pipeline on the oldest Spark
	@PYTHONPATH=$(FLOOR) $(TEST_PIPELINE) -m "not (long or kill)" tests/pipeline

.PHONY: test/cluster
test/cluster: setup/pipeline ## Run the package on a Spark cluster of two workers, and kill one during each command
	@$(BIN)/pytest $(UNLIMITED) -m cluster tests/cluster

.PHONY: test/containers
test/containers: setup ## Build the layers and run `sam local`, with the running container engine or, as root, dockerd
	@$(TEST) $(UNLIMITED) -m slow
	@$(BIN)/python -m tests.sam_local.engine
	@$(MAKE) --no-print-directory $(SAM)
	@MINUTEHAND_TEST_SAM=$(SAM) $(BIN)/pytest $(UNLIMITED) -m containers tests/sam_local

.PHONY: test/project
test/project: setup $(SAM) ## Create projects from the wheel, run their tests, and build them with SAM and the CDK
	@MINUTEHAND_TEST_SAM=$(SAM) $(BIN)/pytest $(UNLIMITED) -m project tests/walk

# In a separate environment, because it requires other versions of our dependencies.
$(SAM):
	@$(BIN)/python -m venv $(SAM:/bin/sam=)
	@$(SAM:/sam=/python) -m pip install --quiet --disable-pip-version-check aws-sam-cli==$(SAM_VERSION)

.PHONY: dist
dist: setup ## Build the wheels and source distributions of both packages, in dist/, and check them
	@$(MAKE) --no-print-directory $(TWINE)
	@rm -f $(DISTRIBUTIONS)
	@{ $(BIN)/hatchling build --directory dist && cd pipeline && ../$(BIN)/hatchling build --directory ../dist; } \
		> .venv/dist.txt 2>&1 || { cat .venv/dist.txt; exit 1; }
	@$(TWINE) check --strict $(DISTRIBUTIONS)

$(TWINE):
	@$(BIN)/python -m venv $(TWINE:/bin/twine=)
	@$(TWINE:/twine=/python) -m pip install --quiet --disable-pip-version-check twine==$(TWINE_VERSION)

.PHONY: package/pipeline
package/pipeline: setup ## Package the pipeline for a cluster, in dist/; ARGS="--python 3.13"
	@$(BIN)/python pipeline/package.py $(ARGS)

.PHONY: check
check: lint types imports ## Run the linter, the type checker and the import contracts

.PHONY: fmt
fmt: setup ## Format the code and sort its imports
	@$(BIN)/ruff check --quiet --select I --fix .
	@$(BIN)/ruff format --quiet .

.PHONY: lint
lint: setup ## Check formatting and lint rules
	@$(BIN)/ruff format --check --quiet . || { echo "not formatted: run make fmt" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .

# mypy gives its processes three seconds to start, and ends with 2 if a busy machine takes longer.
.PHONY: types
types: setup/pipeline ## Check types
	@$(BIN)/mypy --no-error-summary --num-workers 2 || { [[ $$? == 2 ]] && $(BIN)/mypy --no-error-summary; }

.PHONY: imports
imports: setup ## Check import contracts
	@$(BIN)/lint-imports --no-logo > .venv/imports.txt || { cat .venv/imports.txt; exit 1; }

.PHONY: docs
docs: $(DOCS)/.stamp ## Build the documentation site in site/, with all links checked
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict 2> $(DOCS)/build.txt || { cat $(DOCS)/build.txt >&2; exit 1; }
	@echo "site/index.html"

.PHONY: docs/serve
docs/serve: $(DOCS)/.stamp ## Serve the documentation site and reload it on changes; ARGS="--dev-addr 127.0.0.1:8001"
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs serve $(ARGS)

.PHONY: docs/screenshots
docs/screenshots: setup ## Save the screenshots of the documentation
	@MINUTEHAND_TEST_SCREENSHOTS=$(CURDIR)/docs/images $(BIN)/pytest --quiet tests/console/test_screenshots.py

.PHONY: docs/performance
docs/performance: $(DOCS)/.stamp ## Write docs/performance.md and its plots from bench/results.json
	@$(DOCS)/bin/python -m bench.page

# In a separate environment, because only these targets need it.
$(DOCS)/.stamp: requirements-docs.lock | $(STAMP)
	@$(BIN)/python -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

.PHONY: bench
bench: setup/pipeline ## Run the benchmarks; ARGS="--cases one,batch --rounds 5"
	@$(BIN)/python -m bench $(ARGS)

.PHONY: bench/peers
bench/peers: setup ## Install other job queues in .venv/peers and compare; PGMQ_SQL=pgmq.sql ARGS="--rounds 5"
	@PGMQ_SQL="$(PGMQ_SQL)" $(BIN)/python -m bench.peers $(ARGS)

.PHONY: lock
lock: ## Lock the newest versions of all dependencies, for all platforms and Python 3.11 and later (requires uv and npm)
	$(LOCK) pyproject.toml --extra dev --output-file requirements.lock
	printf 'editables\nhatchling\n' | $(LOCK) $(NOT_OURS) pyproject.toml - --extra local --constraint requirements.lock \
		--output-file requirements-run.lock
	$(LOCK) $(NOT_OURS) pipeline/pyproject.toml --extra dev --constraint requirements.lock \
		--output-file requirements-pipeline.lock
	$(LOCK_CLUSTER) $(NOT_OURS) pyproject.toml pipeline/pyproject.toml --extra aws --extra encryption \
		--constraint requirements-pipeline.lock --output-file pipeline/requirements.lock
	printf 'matplotlib\nmkdocs-material\nmkdocstrings-python\nruff\n' | $(LOCK) - --constraint requirements.lock --output-file requirements-docs.lock
	$(LOCK) bench/peers/requirements.in --output-file bench/peers/requirements.lock
	cd bench/peers && npm update --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund
	echo pyspark==$(SPARK_FLOOR) | $(LOCK) - --no-deps --output-file requirements-spark-floor.lock

.PHONY: db/migrate
db/migrate: setup ## Migrate the schema of $DATABASE_URL to this version
	@$(BIN)/minutehand migrate

.PHONY: schema
schema: setup ## Write schema/schema.sql, the dump of a migrated database
	@$(BIN)/python -m tests.schema_dump

.PHONY: db/reset
db/reset: setup ## Stop the Postgres of `make run` and delete its data
	@$(BIN)/python -c 'from pathlib import Path; from minutehand.local.postgres import stop; stop(Path(".minutehand"))'
	@rm -rf .minutehand

.PHONY: clean
clean: ## Remove build output and caches; .venv and your data stay
	@rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .aws-sam .emulator
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
