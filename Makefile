PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# one thread per process: two threads are slower on a busy two-core machine, and would change the order of sums
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test test-lowest test-integrations check lint types bench kernels study audit docs site dist mutants clean

demo: $(VENV)/installed
	$(BIN)/unweave demo

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# tests with the real packages of all trackers; CI leaves them out because installing them takes some minutes
test-integrations: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,integrations-dev]' --editable ./papers
	$(BIN)/python -m pytest tests/integrations src/unweave/integrations

# tests with the lowest versions that pyproject.toml allows, in a separate environment
test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal -m "not slow"

.venv-lowest/installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt --editable '.[dev]' --editable ./papers
	touch $@

study: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m slow

check: lint types test kernels

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/zizmor --offline --quiet .github

types: $(VENV)/installed-dev
	$(BIN)/mypy

kernels: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks --check

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks

# make mutants runs the stored lists of faults, make mutants SEED=7 a newly drawn list
mutants: $(VENV)/installed-dev build/reach
	$(if $(SEED),$(BIN)/python tests/mutants/draw.py --seed $(SEED) > build/faults-$(SEED).toml)
	$(BIN)/python tests/mutants/run.py $(if $(SEED),build/faults-$(SEED).toml) $(ARGS)

# records which tests reach which lines; delete it to record them again
build/reach:
	-$(BIN)/python tests/mutants/reach.py

audit: $(VENV)/installed-dev
	$(BIN)/python docs/audited.py --metrics '$(METRICS)' --budget $(or $(BUDGET),120)

docs: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/pictures.py
	$(BIN)/zensical build --strict

site: docs
	$(BIN)/python -m http.server --directory site 8000

dist: $(VENV)/installed-dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist papers
	$(BIN)/python tests/packaging/empty_environment.py dist

clean:
	rm -rf $(VENV) .venv-lowest .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/installed: pyproject.toml papers/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --editable ./papers
	touch $@

$(VENV)/installed-dev: pyproject.toml papers/pyproject.toml constraints-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints-dev.txt --editable '.[dev]' --editable ./papers
	touch $(VENV)/installed $@
