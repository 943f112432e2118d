# `make run` and `make test` do everything on a fresh clone, set-up included.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
# Bytecode is written by the first import: most modules of most packages are never imported.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

# The site is built in an environment of its own: nothing else needs what it is built with.
DOCS := .venv-docs
DOCS_READY := $(DOCS)/.ready

# The explorer's page. It is built where npm is; everything else works without it.
WEB := allstreets/explorer/web
TOOLS := $(WEB)/node_modules/.ready
PAGE := allstreets/explorer/page/index.html
PAGE_SOURCES := $(shell find $(WEB) -name node_modules -prune -o -type f -print)
HAS_NODE := $(shell node -e 'const [a, b] = process.versions.node.split(".").map(Number); \
	process.stdout.write(a > 20 || (a === 20 && b >= 19) ? "yes" : "")' 2>/dev/null)
HAS_NPM := $(and $(HAS_NODE),$(shell command -v npm))

.DEFAULT_GOAL := help
.PHONY: help setup page run page-if-possible kernels test test-all quick lint types layers web \
	unit durations mutations api docs prose gallery bench wheel lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The stamp is written last, so that an interrupted installation is repeated and a finished one is not.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "allstreets needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11 …"; exit 2; }
	@echo "Setting up $(VENV) (once; half a minute) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) -r requirements.lock
	@$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(READY)

$(DEV_READY): $(READY) requirements-dev.lock
	@echo "Adding what checks and tests need (once; a minute) …"
	@$(BIN)/python $(INSTALL) -r requirements-dev.lock
	@touch $(DEV_READY)

setup: $(READY) ## Install allstreets into .venv

ifneq ($(HAS_NPM),)
page: $(PAGE) ## Build the explorer's page (needs Node.js 20.19 or newer, with npm)
else
page:
	@echo "Left out: the explorer's page. It is built by npm; install Node.js 20.19 or newer and run: make page"
endif

$(TOOLS): $(WEB)/package-lock.json
	@echo "Installing what the explorer's page is built with (once; half a minute) …"
	@cd $(WEB) && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $(TOOLS)

$(PAGE): $(TOOLS) $(PAGE_SOURCES)
	@cd $(WEB) && npm run --silent build -- --logLevel warn
	@touch $(PAGE)

# On a new machine the page is built while kernels are compiled.
run: ## Solve a small whole game, preflop through river, and show its charts
	@$(MAKE) --no-print-directory -j 2 kernels page-if-possible
	@$(BIN)/allstreets train

KERNELS := first-run

kernels: $(READY)
	@$(BIN)/allstreets compile $(KERNELS)

page-if-possible:
	@$(MAKE) --no-print-directory page || echo "The explorer's page could not be built; going on without it."

# Everything side by side, as soon as what it needs is there; each prints its findings in one piece.
# Kernels are compiled from the moment that running needs no more packages: all of them, while what
# checks and tests need is installed.
test: ## All checks, and the tests that every change needs
	@$(MAKE) --no-print-directory -j 4 lint layers page kernels types web unit KERNELS=all

test-all: ## The same with long tests: real Ray and kills, S3, searches, every write of a run
	@$(MAKE) --no-print-directory test TESTS=--all

quick: $(DEV_READY) ## What a change needs: checks, and 45 s of the tests nearest to the changed files
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@PYTHONPATH=tests $(BIN)/python -m harness.quick

lint: $(DEV_READY) ## ruff: lint and format check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(DEV_READY) ## mypy --strict
	@$(BIN)/mypy

layers: $(DEV_READY) ## import-linter: the layers of docs/architecture.md
	@$(BIN)/lint-imports

ifneq ($(HAS_NPM),)
web: $(TOOLS) ## svelte-check, eslint and Vitest
	@cd $(WEB) && npm run --silent types -- --check
	@cd $(WEB) && npm run --silent check
	@cd $(WEB) && npm run --silent lint
	@cd $(WEB) && npm test --silent -- --reporter=dot
else
web:
	@echo "Left out: checks and tests of the explorer's page (no npm)."
endif

unit: $(DEV_READY) lint layers page ## pytest
	@$(BIN)/pytest -n 2 --dist worksteal $(TESTS)
	@command -v chromium chromium-browser google-chrome > /dev/null \
		|| echo "Left out: tests of the explorer in a real browser (no chromium)."

durations: $(DEV_READY) kernels page ## Record what every test file takes into tests/durations.json
	@$(BIN)/pytest -n 2 --dist worksteal --record-durations

mutations: $(DEV_READY) kernels ## Plant a dozen mistakes, one at a time, and see that tests catch each
	@$(BIN)/python benchmarks/mutations.py

api: $(DEV_READY) $(TOOLS) ## Regenerate the explorer's OpenAPI document and the page's types
	@PYTHONPATH=tests $(BIN)/python -m harness.document > $(WEB)/openapi.json
	@cd $(WEB) && npm run --silent types

$(DOCS_READY): requirements-docs.lock
	@echo "Setting up $(DOCS) (once; half a minute) …"
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python $(INSTALL) -r requirements-docs.lock
	@touch $(DOCS_READY)

docs: $(READY) $(DOCS_READY) prose ## Build the documentation site into site/; checks spelling, prose and links
	@NO_MKDOCS_2_WARNING=1 ALLSTREETS_PYTHON=$(BIN)/python $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "Built: site/index.html"

prose: $(DOCS_READY) ## codespell, and phrases that make a reader stumble
	@$(DOCS)/bin/codespell
	@$(DOCS)/bin/python tests/harness/prose.py

gallery: $(DEV_READY) page ## Solve what the pictures of docs/ show and take them again (some minutes; needs chromium)
	@PYTHONPATH=tests $(BIN)/python docs/tools/gallery.py

bench: $(DEV_READY) kernels ## Run the benchmarks (ten minutes) and say what got slower; BENCH=--all runs the studies too
	@$(BIN)/python benchmarks/run.py $(BENCH)

WHEEL := .venv-wheel

wheel: $(DEV_READY) page ## Build the sdist, the wheel from it, and use the wheel in a bare environment
	@rm -rf dist $(WHEEL)
	@$(BIN)/hatchling build --target sdist
	@$(BIN)/python -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	@$(PYTHON) -m venv $(WHEEL)
	@$(WHEEL)/bin/python $(INSTALL) dist/*.whl
	@$(WHEEL)/bin/python tests/harness/installed.py $(WHEEL)/bin/python
	@rm -rf $(WHEEL)

# All but the one that takes a GPU.
EXTRAS := anki cluster hands mcp openspiel parquet
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --quiet --upgrade

lock: $(DEV_READY) ## Resolve the versions again into the three requirements*.lock
	@$(BIN)/python $(INSTALL) uv
	@$(COMPILE) pyproject.toml --group dev $(EXTRAS:%=--extra %) --output-file requirements-dev.lock
	@$(COMPILE) pyproject.toml --group install --constraint requirements-dev.lock --output-file requirements.lock
	@$(COMPILE) --group docs --output-file requirements-docs.lock

clean: ## Remove the environment and every cache inside the checkout
	@rm -rf $(WEB)/node_modules allstreets/explorer/page
	@rm -rf $(VENV) $(DOCS) $(WHEEL) dist site .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
