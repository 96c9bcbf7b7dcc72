# One word for every job; CI calls the same words. `make` alone lists them.
# Needs git, make, a C compiler, Rust (stable) and Python 3.11 or newer with venv.

PYTHON ?= python3
CARGO  ?= cargo
FUZZ_SECONDS ?= 120
# One more than cores, four at most: tests of real time wait.
WORKERS := $(shell n=$$(nproc 2> /dev/null || echo 2); echo $$(( n < 4 ? n + 1 : 4 )))
BASE ?= main
CARGO_MUTANTS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/aqmlab/cargo-mutants-27.1.0
VENV   := .venv
BIN    := $(VENV)/bin

# Python outside crates.
SCRIPTS := docs python release requirements tests validation vectors web/calibrations.py

# Everything the compiled simulator is made of.
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml' -o -path '*/data/*' -type f)

# The page with the module, and what it is made of.
PAGE := python/aqmlab/lab/page
TAB  := $(wildcard web/*.js web/*.css web/*.html web/*.json web/build.sh)

# The parts of the study tuning-red that have published tables: 1, 3 and 5.
TABLES := --part fifo --part red-qlen --part retransmission

# Installs a lock, or nothing, into an environment: $(call locked,FOLDER,FILE).
UV     := $(VENV)/uv/.done
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# How the simulator is built. CI sets it to nothing, for a debug build: its crates are those of Rust's tests.
OPTIMISED ?= --release
# Bytecode is written with the first import, into $(VENV) and beside our own modules: without it each of some
# hundred processes that tests start would compile its libraries again.
unexport PYTHONDONTWRITEBYTECODE
LOCK   := --require-hashes --only-binary :all: --requirement
locked  = { $(VENV)/uv/bin/uv pip install --quiet --python $(1)/bin/python $(LOCK) $(2) 2> $(VENV)/uv/log || $(BIN)/python -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check $(LOCK) $(2); }

# Runs a command inside the environment; what it says is shown only if it fails.
quietly = . $(BIN)/activate && PIP_DISABLE_PIP_VERSION_CHECK=1 $(1) > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log >&2; exit 1; }

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup dev run web film test test-rust test-python test-discipline documents check format bench validate uml mutants fuzz docs site wheel dist new-discipline new-control new-measure vectors lock audit clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(VENV)/.core ## Create .venv and build the simulator into it
	@:

dev: $(VENV)/.dev ## The same, with what tests and checks need
	@:

run: setup ## Set everything up and repeat the three published tables of the study tuning-red (within three minutes on two cores)
	@$(BIN)/aqmlab study tuning-red --quick --assume reconstructed --refresh $(TABLES)

web: $(PAGE)/index.html ## Build the laboratory in a tab (WebAssembly), where its tools are installed
	@:

# Rust's tests, some of which need no optimised code of their own.
TESTS := RUSTC_WRAPPER=$(abspath .ci/rustc) $(CARGO) test --quiet

# The wheel of what is compiled, without a profile: the documents' commands are tested with it.
target/wheel/.built: dev
	@web/build.sh --missing || $(MAKE) --silent web
	@rm -rf target/wheel && $(call quietly,$(BIN)/maturin build $(OPTIMISED) --locked --out target/wheel) && touch $@

# Rust's tests are built and run beside the simulator's build, whose link-time optimisation keeps one core, and
# beside Python's tests: either alone leaves a core idle now and then.
test: ## Set everything up and run every test
	@$(MAKE) --silent test-rust & rust=$$!; \
	$(MAKE) --silent test-python; python=$$?; \
	wait $$rust; rust=$$?; cat target/tests.log; \
	exit $$((rust || python))

test-rust:
	@mkdir -p target
	@$(TESTS) --no-fail-fast > target/tests.log 2>&1

# Bytecode of the tests is written once, before all workers read it.
test-python: target/wheel/.built
	@test -d tests/__pycache__ || $(BIN)/python -m pytest --collect-only --quiet > /dev/null || :  # the tests say why
	@OPENBLAS_NUM_THREADS=1 AQMLAB_TEST_REAL=1 AQMLAB_TEST_WHEEL=target/wheel $(BIN)/python -m pytest -m 'not slow' --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# While a discipline is written: units that did not change are kept, and tests that name it are run.
ONE := CARGO_PROFILE_TEST_OPT_LEVEL=1 CARGO_PROFILE_TEST_INCREMENTAL=true

test-discipline: ## One discipline's own tests, laws and golden row, built in seconds after a change: NAME=codel
	@test -n "$(NAME)" || { echo 'make: whose tests? make test-discipline NAME=codel' >&2; exit 2; }
	@$(ONE) $(CARGO) test --quiet -p aqmlab-aqm -p aqmlab-testvec --lib --test all -- ::$(NAME)

documents: target/wheel/.built ## Run the commands of README and documents from an empty folder with only the wheel, long ones too
	@AQMLAB_TEST_REAL=1 AQMLAB_TEST_WHEEL=target/wheel $(BIN)/python -m pytest tests/test_readme.py tests/test_how_to.py tests/test_documents.py tests/test_tasks.py

check: dev ## Formatting, lints, types, words, links of the documentation and lengths of files and functions
	@$(CARGO) fmt --all --check
	@PYO3_PYTHON=$(abspath $(BIN)/python) $(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	@PYO3_PYTHON=$(abspath $(BIN)/python) RUSTDOCFLAGS='-D warnings' $(CARGO) doc --quiet --workspace --no-deps
	@$(BIN)/ruff format --check --quiet $(SCRIPTS)
	@$(BIN)/ruff check --quiet $(SCRIPTS)
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/python docs/words.py
	@$(BIN)/python docs/sizes.py
	@web/check.sh

format: dev ## Format all code
	@$(CARGO) fmt --all
	@$(BIN)/ruff format --quiet $(SCRIPTS)
	@$(BIN)/ruff check --quiet --fix $(SCRIPTS)
	@web/check.sh --write

bench: setup ## Speed and memory on this machine, beside ns-2 where installed
	@$(BIN)/aqmlab bench

validate: dev ## The slow comparisons with theory, papers and other programs
	@$(CARGO) test --quiet --release -- --include-ignored
	@AQMLAB_TEST_REAL=1 $(BIN)/python -m pytest -m slow || [ $$? -eq 5 ]  # 5: there is none
	@$(BIN)/python -m validation

uml: dev ## Build the Linux kernel that `make validate` runs in virtual time (once; newest installed Debian package linux-source-*, or LINUX=6.12)
	@LINUX=$(LINUX) $(BIN)/python -m validation.linux --build

mutants: ## Which small changes of what differs from main (BASE=COMMIT) no test notices (docs/mutants.md)
	@command -v cargo-mutants > /dev/null || test -x $(CARGO_MUTANTS)/bin/cargo-mutants || $(CARGO) install --quiet --locked --root $(CARGO_MUTANTS) --version 27.1.0 cargo-mutants
	@mkdir -p target
	@git diff $(BASE) -- 'crates/*.rs' > target/mutants.diff
	@test ! -s target/mutants.diff || PATH="$(CARGO_MUTANTS)/bin:$$PATH" nice -n 19 $(CARGO) mutants --in-diff target/mutants.diff

fuzz: dev ## Damaged results, hostile names and shells; random calls, scenarios and captures (needs nightly Rust): FUZZ_SECONDS each
	@cd tests && PYTHONPATH=../python $(abspath $(BIN))/python -m hostile --seconds $(FUZZ_SECONDS)
	@rustup run nightly cargo fuzz --version > /dev/null 2>&1 || { echo 'make: fuzzing needs nightly Rust and cargo-fuzz: rustup toolchain install nightly && cargo install cargo-fuzz --version 0.13.1 --locked' >&2; exit 1; }
	@cd fuzz && for target in queue scenario capture; do \
	    mkdir -p corpus/$$target && rustup run nightly cargo fuzz run $$target corpus/$$target seeds/$$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=4096 || exit 1; done

docs: dev ## Write docs/algorithms.md, docs/command-line.md and others, and the Rust crates' documentation
	@$(BIN)/python docs/characterise.py
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/command_line.py
	@PYO3_PYTHON=$(abspath $(BIN)/python) RUSTDOCFLAGS='-D warnings' $(CARGO) doc --quiet --workspace --no-deps

# Tools in an environment of their own: $(VENV)/NAME from requirements/NAME.txt; why there is none stands in `missing`.
define environment
$(VENV)/$(1)/.done: requirements/$(1).txt | $(UV)
	@$(PYTHON) -m venv --without-pip $(VENV)/$(1) && rm -f $(VENV)/$(1)/missing
	@$$(call locked,$(VENV)/$(1),$$<) > $(VENV)/$(1)/log 2>&1 \
	|| { grep -m1 'No matching distribution' $(VENV)/$(1)/log > $(VENV)/$(1)/missing || { cat $(VENV)/$(1)/log >&2; exit 1; }; }
	@touch $$@
endef
$(eval $(call environment,audit))
$(eval $(call environment,site))
AUDIT := $(VENV)/audit
SITE  := $(VENV)/site

film: dev web ## The README's moving picture, from the page in a browser (needs Chromium)
	@$(BIN)/python docs/moving_picture.py

site: $(SITE)/.done dev ## The documentation site in site/, with the laboratory in a tab where `make web` has built it; every link checked
	@if test -s $(SITE)/missing; then echo "site: skipped, its tools are not to be had here ($$(cat $(SITE)/missing))"; \
	else rm -rf target/site && $(BIN)/python -m validation.page --site target/site && NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet && echo site/index.html; fi

# A wheel is built twice, the second time guided by what the first one did (release/training.py): a tenth faster.
GUIDED = $(if $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata),--pgo)
dist: setup ## The wheel in dist/, guided by a profile, with the laboratory in a tab, both where it can be
	@web/build.sh --missing || $(MAKE) --silent web
	@test -n "$(GUIDED)" || echo 'make: the wheel is built without a profile: rustup component add llvm-tools brings what counts'
	@rm -rf dist && $(call quietly,$(BIN)/maturin build --release --locked --out dist $(GUIDED))

wheel: dist ## Build the wheel and try it in a clean environment of Python 3.11, 3.12 and 3.13, those that are here
	@$(BIN)/python release/wheel.py dist

new-discipline: ## Write the stubs of a queue discipline in all places that need it: NAME=erd (docs/adding.md)
	@$(PYTHON) docs/new_variant.py discipline "$(NAME)"

new-control: ## Write the stubs of a congestion control: NAME=aimd
	@$(PYTHON) docs/new_variant.py control "$(NAME)"

new-measure: ## Write a recorder with a measure, and what reports to it: NAME=drop_bytes_mean
	@$(PYTHON) docs/new_variant.py measure "$(NAME)"

vectors: ## Write the test vectors again: vectors/*.json.gz from the registry
	@$(CARGO) run --quiet --release -p aqmlab-testvec --bin vectors
	@# A file whose text is as before stays: the committed ones are packed closer (zopfli).
	@for file in vectors/*.json; do \
		if gzip -cd $$file.gz 2>/dev/null | cmp -s - $$file; then rm $$file; \
		else gzip --best --no-name --force $$file; fi; \
	done

# One lock for Python 3.11 and newer and for every system (environment markers).
compile = UV_CUSTOM_COMPILE_COMMAND='make lock' $(VENV)/uv/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate --python-version 3.11

lock: $(UV) ## Write requirements/*.txt anew: the newest releases that pyproject.toml allows, with hashes
	@test -x $(VENV)/uv/bin/uv || { echo "make: uv, which writes the locks, is not to be had here ($$(cat $(VENV)/uv/missing))" >&2; exit 1; }
	@$(compile) --extra build --extra dev pyproject.toml --output-file requirements/lock.txt
	@$(compile) --extra build --constraint requirements/lock.txt pyproject.toml --output-file requirements/run.txt
	@$(BIN)/python requirements/besides.py requirements/lock.txt requirements/run.txt
	@for name in audit site uv; do $(compile) requirements/$$name.in --output-file requirements/$$name.txt || exit 1; done

audit: $(AUDIT)/.done ## Licences, sources and known vulnerabilities of all packages, as far as they can be asked
	@if test -s $(AUDIT)/missing; then echo "audit: skipped, its tools are not to be had here ($$(cat $(AUDIT)/missing))"; \
	else $(AUDIT)/bin/python requirements/audit.py; fi

clean: ## Remove everything that was built, but keep results
	@$(CARGO) clean --quiet
	@rm -rf $(VENV) $(PAGE) site dist web/node_modules fuzz/target python/aqmlab/_core.*.so .pytest_cache .ruff_cache .hypothesis
	@find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo 'make: $(PYTHON) is missing: install Python 3.11 or newer (Debian: apt install python3 python3-venv)' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$($(PYTHON) --version) is too old: install Python 3.11 or newer, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'make: this Python cannot create environments: install its venv package (Debian: apt install python3-venv)' >&2; exit 1; }
	@echo 'creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)

# What installs packages: uv, which takes a tenth of pip's work. Where it is not to be had, or fails, pip does it.
$(UV): requirements/uv.txt | $(VENV)/bin/python
	@mkdir -p $(VENV)/uv && $(PIP) --target $(VENV)/uv --upgrade $(LOCK) $< > $(VENV)/uv/log 2>&1 || tail -n 1 $(VENV)/uv/log > $(VENV)/uv/missing
	@touch $@

# Dependencies: installed again only when a lock or pyproject.toml changes. Every package, indirect
# ones too, is the one of the lock or none. Only where the lock has nothing that this Python and machine
# could install (the hashes of what it has are right), the ranges of pyproject.toml take its place.
define install
	@if $(call locked,$(VENV),requirements/$(1).txt) > $(VENV)/lock.log 2>&1; then :; \
	elif grep -q 'No matching distribution' $(VENV)/lock.log; then \
	    echo "make: requirements/$(1).txt does not serve $$($(BIN)/python --version) here ($$(grep -m1 'No matching' $(VENV)/lock.log)): installing what pyproject.toml allows" >&2; \
	    $(PIP) 'maturin>=1.16,<2'; \
	else cat $(VENV)/lock.log >&2; exit 1; fi
	@$(call quietly,$(BIN)/maturin develop $(OPTIMISED) --extras $(2))
	@touch $@
endef
$(VENV)/.deps: pyproject.toml requirements/run.txt | $(UV)
	@command -v $(CARGO) >/dev/null || { echo 'make: cargo is missing: install Rust from https://rustup.rs' >&2; exit 1; }
	@echo 'installing Python packages and building the simulator (some minutes the first time)'
	$(call install,run,build)

# What tests and checks need besides.
$(VENV)/.dev: pyproject.toml requirements/lock.txt | $(VENV)/.core
	$(call install,lock,dev)

# The laboratory in a tab: built again only when a source of the simulator or the page changes.
$(PAGE)/index.html: $(RUST) $(TAB)
	@CARGO=$(CARGO) web/build.sh
	@touch $@

# The simulator: built again only when a source changes.
$(VENV)/.core: $(RUST) $(VENV)/.deps
	@$(call quietly,$(BIN)/maturin develop $(OPTIMISED) --skip-install)
	@touch $@
