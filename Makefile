# Every target is one call of dev.py, so that a developer and CI run the same. `make` alone lists them.
# Arguments for the tool behind a target: make test ARGS="-k parse"

DEV := python3 dev.py
ARGS :=

.DEFAULT_GOAL := help
.PHONY: help demo test setup build lint fuzz soak bench licenses check lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

demo: ## Run the whole pipeline on Spark
	@$(DEV) demo $(ARGS)

test: ## Run the Rust and the Python tests
	@$(DEV) test $(ARGS)

setup: ## Check the toolchain and make .venv from the lock file
	@$(DEV) setup

build: ## Compile the core and install it into .venv
	@$(DEV) build $(ARGS)

lint: ## Check formatting, lints and types
	@$(DEV) lint

fuzz: ## Run the fuzz targets (ARGS="parse --seconds 600" for one and longer)
	@$(DEV) fuzz $(ARGS)

soak: ## Run random lives of all engines (ARGS="--minutes 10" for longer)
	@$(DEV) soak $(ARGS)

bench: ## Compare all engines and their rivals (ARGS=--help says how)
	@$(DEV) bench $(ARGS)

licenses: ## Check the licences of all dependencies
	@$(DEV) licenses

check: ## All that CI runs: lint, licenses, test, demo, fuzz
	@$(DEV) check

lock: ## Write the lock files (ARGS=--upgrade takes newer versions)
	@$(DEV) lock $(ARGS)

clean: ## Remove everything that was built
	@$(DEV) clean
