# Stemma's commands. `make` alone lists them. Each makes the environment it needs first.

PYTHON ?= python3
ARGS ?=
FUZZ_SECONDS ?= 60
BIN := .venv/bin
ENV := .venv/.made
PEERS := .cache/bench-peers/.made

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test rolling clients test-clients lint format protos mutants import-300mb fuzz overload abuse soak cancel bench bench-peers console-bench screenshots check-fresh lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# Everything that decides what is installed.
$(ENV): pyproject.toml requirements.lock tools/make_env.sh
	@PYTHON='$(PYTHON)' tools/make_env.sh

# An environment of their own: what they need is none of ours.
$(PEERS): tools/bench/peers-requirements.txt | $(ENV)
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .cache/bench-peers/venv
	@$(BIN)/uv pip sync --quiet --python .cache/bench-peers/venv/bin/python $<
	@touch $@

run: $(ENV) ## Start Stemma: REST and SSE, gRPC, SQLite in ./data, a small local model (stop: Ctrl-C)
	@exec $(BIN)/stemma up $(ARGS)

test: $(ENV) ## Run every test, on SQLite and a real PostgreSQL (one test: make test ARGS="-k name")
	@tools/need_chromium.sh
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal --ignore=tests/clients/languages --ignore=tests/deploy/test_rolling_restart.py $(ARGS)

rolling: $(ENV) ## Restart three replicas of both services behind Envoy, one after the other, under load
	@$(BIN)/python -m pytest tests/deploy/test_rolling_restart.py $(ARGS)

clients: $(ENV) ## Make the clients for Node, browsers, Go and C++: stubs, libraries and examples (docs/clients.md)
	@tools/need_clients.sh
	@$(BIN)/python -m tools.clients $(ARGS)

test-clients: ## The same story in every language, against real servers, also in a bad network and a browser
	@$(MAKE) --no-print-directory clients ARGS=
	@tools/need_chromium.sh
	@$(BIN)/python -m pytest tests/clients/languages $(ARGS)

lint: $(ENV) ## Check style, types, layers, the contract, its generated code, and the rules of the house
	@$(BIN)/python -m tools.lint $(ARGS)

format: $(ENV) ## Let ruff format and fix what it can
	@$(BIN)/ruff check --quiet --fix --exit-zero . && $(BIN)/ruff format .

protos: $(ENV) ## Generate protos/gen from protos/stemma
	@$(BIN)/python -m tools.protos

mutants: $(ENV) ## Plant the faults of tools/mutants.toml one by one: each must be caught by its test
	@$(BIN)/python -m tools.mutants $(ARGS)

fuzz: $(ENV) ## Damage import files, and requests of every RPC, for a minute each: clear errors are all that may come
	@printf '%s\n' stemma oasst chatgpt log-jsonl \
	  | xargs -P 2 -I '{}' $(BIN)/python -m tests.formats.fuzz '{}' --seconds $(FUZZ_SECONDS)
	@$(BIN)/python -m tests.bad_inputs.fuzz --seconds $(FUZZ_SECONDS)

overload: $(ENV) ## Offer twice what can be answered: how much still is, and how soon all is well (ARGS=--write: docs/overload.md)
	@$(BIN)/python -m tests.overload.experiment $(ARGS)

abuse: $(ENV) ## HTTP/2 floods, gzip bombs and 10,000 idle connections
	@IDLE_CONNECTIONS=10000 $(BIN)/python -m pytest tests/bad_inputs/test_abuse.py $(ARGS)

import-300mb: $(ENV) ## Import a generated file of 300 MB: memory must stay flat
	@IMPORT_MEGABYTES=300 $(BIN)/python -m pytest tests/transfers/test_memory.py

soak: $(ENV) ## Kill service and PostgreSQL under load: nothing may be lost (22 min; as CI: make soak ARGS=--quick)
	@ATTACHES=200 $(BIN)/python -m pytest -q tests/runs/test_sse.py -k random
	@$(if $(filter --quick,$(ARGS)),true,MODEL_PROGRAMS=200 $(BIN)/python -m pytest -q tests/model/test_programs.py)
	@IDS=$(if $(filter --quick,$(ARGS)),1000,10000) $(BIN)/python -m pytest -q tests/access/test_foreign.py -k told_apart
	@RACES=$(if $(filter --quick,$(ARGS)),5,500) $(BIN)/python -m pytest -q tests/drafts/test_races.py
	@exec $(BIN)/python -m tools.soak $(ARGS)

cancel: $(ENV) ## Cancel 10,000 calls at random on each engine, and every write at each of its waits (15 min)
	@CANCELLATIONS=10000 $(BIN)/python -m pytest tests/cancellation $(ARGS)

bench: $(ENV) ## Measure speed and size beside the targets, into docs/benchmarks.md (6 min; 1: make bench ARGS=--quick)
	@GRPC_VERBOSITY=ERROR $(BIN)/python -m tools.bench $(ARGS)

console-bench: $(ENV) ## Open and pan a session of 5,000 turns in the console, and time it
	@tools/need_chromium.sh
	@$(BIN)/python -m tests.console.bench $(ARGS)

screenshots: $(ENV) ## Take the pictures of docs/console: every view, wide and narrow, light and dark
	@tools/need_chromium.sh
	@$(BIN)/python -m tests.console.screenshots $(ARGS)

bench-peers: $(PEERS) ## Install LangGraph, ADK and OpenAI Agents (make bench includes them then), and measure them
	@GRPC_VERBOSITY=ERROR $(BIN)/python -m tools.bench --only peers $(ARGS)

check-fresh: ## Clone the last commit to an empty home; run `make run`, README's first curl, `make test` there
	@$(PYTHON) -m tools.check_fresh $(ARGS)

lock: $(ENV) ## Resolve pyproject.toml into requirements.lock (newer versions: make lock ARGS=--upgrade)
	@tools/lock.sh $(ARGS)

clean: ## Remove the environment and every cache (not ./data)
	@rm -rf clients/*/gen clients/*/dist clients/*/build clients/*/node_modules
	@rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
