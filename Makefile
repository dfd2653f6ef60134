# Every verb sets up what it needs. `make` alone lists them.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test tools e2e llm lint lock

help: ## list the verbs
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "otel-eval needs Python 3.11 or later on the PATH"; exit 2; }
	@echo "installing what otel-eval needs into $(VENV): once, a minute or two"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY) ## start a real server, send it recorded agent exports, show the verdicts
	@$(BIN)/otel-eval demo

test: $(READY) ## run the tests
	$(BIN)/python -m pytest -n 4 --maxschedchunk 4

tools: ## build the real collector, Jaeger and Prometheus for e2e, into a cache outside the repository
	@bash tests/e2e/install-tools.sh

e2e: $(READY) ## run the end-to-end tests on the real parts
	$(BIN)/python -m pytest -rs tests/e2e

llm: $(READY) ## have judges ask a small real model (built outside the repository) and hold what they record against its answers
	@PYTHON=$(PYTHON) bash tests/llm/install-model.sh
	@$(BIN)/python -m tests.llm

lint: $(READY) ## ruff and mypy strict; FIX=1 rewrites what can be rewritten
	$(BIN)/ruff check $(if $(FIX),--fix) .
	$(BIN)/ruff format $(if $(FIX),,--check) .
	$(BIN)/mypy

lock: ## lock the newest versions that pyproject.toml allows (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements.lock --upgrade pyproject.toml
