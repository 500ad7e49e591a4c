# Everything there is to do with this project. `make` alone lists it.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MODEL := $(VENV)/models/SmolLM2-135M-Instruct.gguf
FUZZ_CASES ?= 50000
AREAS ?=

.PHONY: help setup demo test lint bench fuzz format lock clean

help: ## list what can be done
	@grep -E '^[a-z]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## make the project's own environment in .venv

$(STAMP): pyproject.toml requirements.lock scripts/setup.sh scripts/model.sh
	@sh scripts/setup.sh $(VENV)
	@touch $(STAMP)

$(MODEL): | $(STAMP)
	@sh scripts/model.sh $(VENV)

demo: $(STAMP) ## score the examples, compare their raters, check conversations, begin a study
	@for name in coaching-conversation smart-action-plan ai-response; do \
	  answers=$$(ls examples/$$name/answers.jsonl 2>/dev/null || echo examples/$$name/answers.csv); \
	  printf '\n$$ calibrant score %s -r %s --items examples/%s/items.jsonl\n' $$answers $$name $$name; \
	  $(BIN)/calibrant score $$answers -r $$name --items examples/$$name/items.jsonl --format text || exit 1; \
	done
	@printf '\n$$ calibrant agree examples/smart-action-plan/answers.csv -r smart-action-plan\n'
	@$(BIN)/calibrant agree examples/smart-action-plan/answers.csv -r smart-action-plan --format text
	@printf '\n$$ calibrant check examples/coaching-conversation/items.jsonl -r coaching-conversation\n'
	@$(BIN)/calibrant check examples/coaching-conversation/items.jsonl -r coaching-conversation --format text
	@rm -rf .demo && mkdir .demo
	@for verb in 'create advice -r smart-action-plan --lead you' \
	  'items advice examples/smart-action-plan/items.jsonl' \
	  'import-scores advice examples/smart-action-plan/answers.csv --add-raters' \
	  'status advice' 'queue advice'; do \
	  printf '\n$$ calibrant study %s\n' "$$verb"; \
	  CALIBRANT_DB=.demo/calibrant.db $(BIN)/calibrant study $$verb --format text || exit 1; \
	done
	@printf '\nGo on with this study: export CALIBRANT_DB=.demo/calibrant.db\n'

test: $(STAMP) $(MODEL) lint ## check everything and run all tests
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
	rm -rf $(VENV) .bench .demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
