# The two commands of the README: `make explore` runs the main job, `make test` passes every test.
# Both build `.venv` first when it is missing or the pinned versions have changed.

PYTHON ?= python3
BIN := .venv/bin
NETWORK ?= actors/jpeg/jpeg.xdf
# One more than the cores of the machine that CI has: a third of what tests take is waiting, for compilers and time limits.
JOBS ?= 3
SECONDS ?= 600
FIRST ?= 1000
PYTEST := $(BIN)/pytest -q -n $(JOBS) --dist worksteal
# With the same random examples each time: a change that is right is never refused. make test-full draws others.
PYTEST_SAME := $(PYTEST) --hypothesis-profile=ci
COMMA := ,

.PHONY: setup setup-search explore test test-quick test-full fuzz bytecode lint bench coverage lock docs clean

setup: .venv/ready-run

setup-search: .venv/ready-run .venv/ready-search

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "dse needs Python 3.11 or newer; choose one with: make setup PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv \
		|| { echo "python cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

# A network runs natively where there is a C++ compiler; where the system has none, a package brings one.
COMPILER := $(shell command -v g++ || command -v clang++)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv installs in a twentieth of the time. It does not read where pip is told to find packages, so pip does it where it is told.
UV := uv==0.13.9
TOLD_PIP := $(BIN)/python -m pip config list 2>/dev/null | grep -q -E "index-url|no-index"
# The second argument is for pip alone.
install = { test -x $(BIN)/uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(1); } || $(PIP) install $(2) $(1)

.venv/installed: export UV_COMPILE_BYTECODE = 1
.venv/installed: .venv/bin/python requirements.lock requirements-native.lock pyproject.toml
	@$(TOLD_PIP) || $(PIP) install $(UV) || true
	$(call install,-r $(if $(COMPILER),requirements.lock,requirements-native.lock))
	$(call install,--no-deps --editable .)
	@touch $@

# What is compiled once for a machine, so that no first command waits for it.
WARM := .venv/warm-dse.estimate.compiled .venv/warm-dse.gpu.trace .venv/warm-dse.native

$(WARM): .venv/warm-%: .venv/installed
	$(BIN)/python -m $*.warm
	@touch $@

.venv/ready-run: .venv/installed
	@$(MAKE) --no-print-directory -j 2 $(WARM)
	@touch $@

# Of these each waits for the one before: two pips at once would disturb each other. Bytecode comes as it is needed.
.venv/ready-search: .venv/installed requirements-search.lock
	$(call install,-r requirements-search.lock,--no-compile)
	@touch $@

.venv/ready-test: .venv/ready-search requirements-dev.lock
	$(call install,-r requirements-dev.lock,--no-compile)
	@touch $@

.venv/ready-docs: .venv/ready-test requirements-docs.lock
	$(call install,-r requirements-docs.lock,--no-compile)
	@touch $@

explore: .venv/ready-run
	$(BIN)/dse explore $(NETWORK) --measure 3

# Bytecode is kept even where the environment says otherwise: each process would compile all modules and tests again.
test test-quick test-full coverage: export PYTHONDONTWRITEBYTECODE =

# The first command compiles and checks while pip installs. Assertions say what they compared only where one has failed:
# to prepare all of them for that takes each worker longer than all else before its first test.
test:
	@$(MAKE) --no-print-directory -j 2 .venv/ready-test bytecode lint $(WARM)
	$(PYTEST_SAME) --assert=plain || { $(PYTEST_SAME) --last-failed --last-failed-no-failures=none; exit 1; }

test-quick: .venv/ready-run .venv/ready-test
	$(PYTEST_SAME) -m "not slow"

# Hours. With DSE_CORPORA (the folder that holds orc-apps) and DSE_REFERENCE_DATA the public corpora too.
test-full: .venv/ready-run .venv/ready-docs
	DSE_FULL=1 $(PYTEST)
	DSE_CASES=20000 $(PYTEST) tests/property/test_engines_agree.py tests/property/test_bursts_agree.py \
		tests/property/test_bounds.py tests/property/test_search_bounds.py tests/unit/estimate/gpu_batch \
		tests/unit/explore/test_methods.py tests/unit/explore/test_search_quality.py
	DSE_NATIVE_CASES=200 $(PYTEST) tests/native/same tests/native/device tests/native/runtime \
		tests/unit/gpu/test_card_benchmark.py
	DSE_INTERRUPTS=100 $(PYTEST) tests/end_to_end/test_signals.py tests/end_to_end/test_explore_cli.py \
		tests/unit/flows/test_measured.py tests/unit/explore/test_cluster.py
	DSE_FUZZ_PERCENT=100 $(PYTEST) tests/fuzz
	DSE_MEASURED_PAGES=1 $(BIN)/pytest -q tests/end_to_end/test_documents.py -k measurements
	$(if $(DSE_CORPORA),$(PYTEST) tests/golden tests/unit/frontend tests/unit/program tests/unit/passes)
	$(if $(DSE_CORPORA),$(BIN)/python -m benchmarks.native.corpora --sanitize address$(COMMA)undefined)
	$(if $(DSE_CORPORA),$(BIN)/python -m benchmarks.native.corpora --sanitize thread)
	@$(if $(DSE_CORPORA),,echo "without the public corpora: DSE_CORPORA names no folder that holds orc-apps")

# Of the tests: their workers, which begin at the same time, would each compile all of them.
bytecode: .venv/bin/python
	@$(BIN)/python -m compileall -q tests

lint: .venv/ready-test
	$(BIN)/ruff check dse tests benchmarks
	$(BIN)/ruff format --check dse tests benchmarks
	$(BIN)/mypy

coverage: .venv/ready-run .venv/ready-test
	$(BIN)/pytest -q -n $(JOBS) --cov=dse --cov-report=term-missing:skip-covered

fuzz: .venv/ready-run .venv/ready-test
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --first $(FIRST)

bench: .venv/ready-run .venv/ready-test
	$(BIN)/python -m benchmarks.engine

# The site, of the Markdown files where they stand: build/site/index.html. What leads nowhere is an error.
docs: .venv/ready-docs
	$(BIN)/sphinx-build -q --fail-on-warning --keep-going -c docs/site . build/site

lock: .venv/ready-test
	@$(BIN)/python -m pip freeze --exclude-editable --exclude uv

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
