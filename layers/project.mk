# Packages a team's project for Lambda. The Makefile in the project's package includes this file, and `sam build` runs its
# targets in a copy of the package's folder. Any Python from 3.11 can build; the packages are wheels for the layers' Python.

REQUIREMENTS ?= $(PROJECT)/requirements.txt
SOURCE := $(abspath $(dir $(firstword $(MAKEFILE_LIST))))
PROJECT := $(abspath $(SOURCE)/..)

include $(dir $(abspath $(lastword $(MAKEFILE_LIST))))layer.mk

MACHINE = $(if $(filter x86_64,$(1)),x86_64,aarch64)
WHEELS = --only-binary=:all: --implementation cp --python-version $(VERSION) \
	--platform manylinux_2_28_$(MACHINE) --platform manylinux2014_$(MACHINE)
COPY := import sys; from shutil import copytree, ignore_patterns as but; \
	copytree(*sys.argv[1:3], ignore=but("__pycache__", "Makefile", "requirements.txt"), dirs_exist_ok=True)

# The package alone, for a function.
define package
$(HOST_PYTHON) -c '$(COPY)' . "$(ARTIFACTS_DIR)/$(notdir $(SOURCE))"
endef

# The package and the packages in requirements.txt, for a layer; $(1) is arm64 or x86_64. The packages of the queue's
# layers have the versions of these layers, because Lambda merges all layers into one folder.
define package_with_requirements
rm -rf "$(PACKAGES)"
mkdir -p "$(PACKAGES)"
sed -n 's/^\([A-Za-z0-9._-]*==[^ ;]*\).*/\1/p' "$(LAYERS)dependencies/requirements.txt" > "$(PACKAGES)/constraints.txt"
$(PIP) install --quiet --disable-pip-version-check --no-compile $(WHEELS) --target "$(PACKAGES)" \
	--constraint "$(PACKAGES)/constraints.txt" --requirement "$(REQUIREMENTS)"
rm "$(PACKAGES)/constraints.txt"
$(HOST_PYTHON) -c '$(COPY)' . "$(PACKAGES)/$(notdir $(SOURCE))"
$(HOST_PYTHON) -B "$(LAYERS)finish.py" "$(PACKAGES)" $(VERSION) "$(PYTHON)"
$(HOST_PYTHON) -B "$(LAYERS)check.py" "$(PACKAGES)" $(VERSION) $(MACHINE)
endef
