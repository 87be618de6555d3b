# What the layers' Makefiles have in common. SAM tells a Makefile neither the runtime nor the architecture: the one is
# read from the template, the other is in the target's name, and so in the name of the layer.
#
#   make -C layers/dependencies build-DependenciesArm64Layer ARTIFACTS_DIR=/tmp/layer [VERSION=3.11] [PYTHON=...]
#
# Any Python of 3.11 or newer builds for any other. VERSION: the Python to build for, if not the template's. PYTHON: an
# interpreter of that version, to compile with; if there is none the layer works, and its imports take twice as long.

LAYERS := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
VERSION := $(firstword $(shell sed -n 's/^ *Runtime: python//p' "$(LAYERS)../template.yaml"))
HOST_PYTHON ?= python3
PIP ?= $(HOST_PYTHON) -m pip
PYTHON ?= python$(VERSION)
PACKAGES = $(or $(ARTIFACTS_DIR),$(error ARTIFACTS_DIR says where to build, and is not set))/python

# Two platforms, since no wheel of psycopg carries both tags: with the older alone, arm64 gets an older psycopg.
# Without dependencies and markers: every package is in requirements.txt, made for the layer's Python, not the host's.
define build
rm -rf "$(PACKAGES)"
$(PIP) install --quiet --disable-pip-version-check --no-compile --no-deps --only-binary=:all: --require-hashes \
	--implementation cp --python-version $(VERSION) --platform manylinux_2_28_$(1) --platform manylinux2014_$(1) \
	--target "$(PACKAGES)" --requirement requirements.txt
rm -rf $(foreach path,$(LEAVE_OUT),"$(PACKAGES)/$(path)")
$(call finish,$(1))
endef

# The same bytes from the same inputs; and no layer at all if it would not load where it is meant for.
define finish
$(HOST_PYTHON) "$(LAYERS)finish.py" "$(PACKAGES)" $(VERSION) "$(PYTHON)" $(KEEP)
$(HOST_PYTHON) "$(LAYERS)check.py" "$(PACKAGES)" $(VERSION) $(1)
endef

PIN = uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --python-version $(VERSION) \
	--python-platform aarch64-manylinux_2_28 --constraint ../../requirements.lock --output-file requirements.txt
