# `make run` and `make test` do everything on a fresh clone, set-up included.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run test lint types layers unit bench lock clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

# The stamp is written last, so that an interrupted installation is repeated and a finished one is not.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "allstreets needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11 …"; exit 2; }
	@echo "Setting up $(VENV) (once; a minute or two) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

setup: $(READY) ## Install everything into .venv

run: $(READY) ## Solve a small whole game, preflop through river, and show its charts
	@$(BIN)/allstreets train

test: lint types layers unit ## All checks and tests

lint: $(READY) ## ruff: lint and format check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY) ## mypy --strict
	@$(BIN)/mypy

layers: $(READY) ## import-linter: the layers of docs/architecture.md
	@$(BIN)/lint-imports

unit: $(READY) ## pytest
	@$(BIN)/pytest -n 2

bench: $(READY) ## Run the benchmarks; figures go to benchmarks/results
	@for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

lock: $(READY) ## Resolve the versions anew into requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip compile pyproject.toml --group dev --all-extras --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
		--quiet --upgrade --output-file requirements.lock

clean: ## Remove the environment and every cache inside the checkout
	@rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
