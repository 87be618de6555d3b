# Shared by the layers' Makefiles. SAM passes neither the runtime nor the architecture: the runtime is read from the
# template, the architecture is part of the target's name.
#
#   make -C layers/dependencies build-DependenciesArm64Layer ARTIFACTS_DIR=/tmp/layer [VERSION=3.11] [PYTHON=...]
#
# Any Python from 3.11 can build for any other version. VERSION: the Python to build for, by default the template's.
# PYTHON: an interpreter of that version, which compiles the layer; without one, imports take twice as long.

LAYERS := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
VERSION := $(firstword $(shell sed -n 's/^ *Runtime: python//p' "$(LAYERS)../template.yaml"))
HOST_PYTHON ?= python3
PIP ?= $(HOST_PYTHON) -m pip
# Without .pyc files, because this folder may be read-only.
RUN = $(HOST_PYTHON) -B
PYTHON ?= python$(VERSION)
PACKAGES = $(or $(ARTIFACTS_DIR),$(error ARTIFACTS_DIR is not set: set it to the output folder))/python

# Two platforms, because no wheel of psycopg has both tags: with the older one alone, arm64 gets an older psycopg.
# Without dependencies: requirements.txt lists every package, resolved for the layer's Python instead of the host's.
define build
rm -rf "$(PACKAGES)"
$(PIP) install --quiet --disable-pip-version-check --no-compile --no-deps --only-binary=:all: --require-hashes \
	--implementation cp --python-version $(VERSION) --platform manylinux_2_28_$(1) --platform manylinux2014_$(1) \
	--target "$(PACKAGES)" --requirement requirements.txt
rm -rf $(foreach path,$(LEAVE_OUT),"$(PACKAGES)/$(path)")
$(call finish,$(1))
endef

# The result is reproducible. A layer that would not load in Lambda fails the build.
define finish
$(RUN) "$(LAYERS)finish.py" "$(PACKAGES)" $(VERSION) "$(PYTHON)" $(KEEP)
$(RUN) "$(LAYERS)check.py" "$(PACKAGES)" $(VERSION) $(1)
endef

PIN = uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --python-version $(VERSION) \
	--python-platform aarch64-manylinux_2_28 --constraint ../../requirements.lock --output-file requirements.txt
