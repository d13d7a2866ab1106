# make run         install bough in .venv and run the main job: data, plots, and a replay for the browser
# make test        install the test dependencies, lint, run all tests
# make test-fast   the quick tests, for use while working: no other engines, no browser, no site, nothing slow
# make test-long   exploration: Hypothesis draws many new structures
# make verify      `bough verify` from an empty cache and once more, timed
# make mutants     plant errors in the sweeps, one at a time: `bough verify` must detect each
# make faults      SIGKILL at 200 random times, and full disks: nothing unreadable may remain
# make fuzz        bad input of eight kinds, 10,000 of each: rejected with a reason, or accepted with finite results
# make bounds      the quick tests with the oldest and the newest versions of the dependencies
# make trust       the tables of docs/trust.md, from what the five before wrote
# make coverage    line coverage of the sweeps, measured in plain Python
# make docs        build the docs as a site: site/index.html

VENV   := .venv
PYTHON := $(VENV)/bin/python
# tests/conftest.py orders the files
PYTEST := OPENBLAS_NUM_THREADS=1 $(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: run test test-fast test-long verify mutants faults fuzz bounds trust coverage lint bench docs clean

run: $(VENV)/installed
	$(VENV)/bin/bough run examples/spacecraft.yaml --replay

test: lint
	$(PYTEST)

test-fast: $(VENV)/installed-for-tests
	$(PYTEST) -m "not slow and not oracle and not browser and not docs"

test-long: $(VENV)/installed-for-tests
	HYPOTHESIS_PROFILE=long $(PYTEST) tests/physics tests/describe

verify: $(VENV)/installed-for-tests
	rm -rf out/trust/cache && mkdir -p out/trust
	BOUGH_CACHE_DIR=out/trust/cache $(VENV)/bin/bough verify --json > out/trust/verify-cold.json
	BOUGH_CACHE_DIR=out/trust/cache $(VENV)/bin/bough verify --json > out/trust/verify.json
	rm -rf out/trust/cache

mutants: $(VENV)/installed-for-tests
	$(PYTHON) -m tests.support.mutants --json out/trust/mutants.json

faults: $(VENV)/installed-for-tests
	OPENBLAS_NUM_THREADS=1 $(PYTHON) -m tests.support.faults --json out/trust/faults.json

fuzz: $(VENV)/installed-for-tests
	OPENBLAS_NUM_THREADS=1 $(PYTHON) -m tests.support.fuzz --json out/trust/fuzz.json

bounds:
	$(PYTHON) -m tests.support.bounds --json out/trust/bounds.json

trust: $(VENV)/installed-for-tests
	$(PYTHON) -m tests.support.trust_page

coverage: $(VENV)/installed-for-tests
	OPENBLAS_NUM_THREADS=1 $(PYTHON) tests/support/plain_coverage.py

lint: $(VENV)/installed-for-tests
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/installed-for-tests
	$(VENV)/bin/bough bench forward

docs: $(VENV)/installed-for-docs
	OPENBLAS_NUM_THREADS=1 NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet
	@echo "wrote site/index.html"

clean:
	rm -rf $(VENV) build out site src/*.egg-info

$(PYTHON):
	python3 -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(PYTHON)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-for-tests: pyproject.toml | $(PYTHON)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	-$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps "pyNastran>=1.4" cpylog docopt-ng  # it asks for NumPy 1, and works with 2
	touch $@ $(VENV)/installed $(VENV)/installed-for-docs

$(VENV)/installed-for-docs: pyproject.toml | $(PYTHON)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@ $(VENV)/installed
