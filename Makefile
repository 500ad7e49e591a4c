# Everything there is to do with this project. `make` alone lists it.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MODEL := $(VENV)/models/SmolLM2-135M-Instruct.gguf
FUZZ_CASES ?= 50000
AREAS ?=
PORT ?= 8321

.PHONY: help setup demo screenshots test lint bench fuzz format lock clean

help: ## list what can be done
	@grep -E '^[a-z]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: $(STAMP) ## make the project's own environment in .venv

$(STAMP): pyproject.toml requirements.lock scripts/setup.sh scripts/model.sh
	@sh scripts/setup.sh $(VENV)
	@touch $(STAMP)

$(MODEL): | $(STAMP)
	@sh scripts/model.sh $(VENV)

demo: $(STAMP) ## open a furnished workspace in the browser (Ctrl-C ends it; PORT=8321)
	@$(BIN)/calibrant demo --folder .demo --port $(PORT)

screenshots: $(STAMP) ## pictures of every page, light and dark, desk and phone, in .screenshots
	@sh scripts/browser.sh
	@$(BIN)/python -m scripts.screenshots

test: $(STAMP) $(MODEL) lint ## check everything and run all tests
	@sh scripts/browser.sh
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(STAMP) ## style, types, and the direction of imports
	$(BIN)/ruff format --check src tests bench docs
	$(BIN)/ruff check src tests bench docs
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(STAMP) ## measure our speed beside our peers' (AREAS="score" for some)
	$(BIN)/python bench/run.py $(AREAS)

fuzz: $(STAMP) ## throw broken files at every reader (FUZZ_CASES=50000)
	CALIBRANT_FUZZ_CASES=$(FUZZ_CASES) $(BIN)/python -m pytest -n 2 tests/fuzz

format: $(STAMP) ## put the source into its format
	$(BIN)/ruff format src tests bench docs
	$(BIN)/ruff check --fix src tests bench docs

lock: $(STAMP) ## pin the dependencies anew
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --generate-hashes --no-header \
	  --upgrade --quiet -o requirements.lock

clean: ## remove what the targets above have made
	rm -rf $(VENV) .bench .demo .screenshots build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
