# Two commands do everything on a fresh machine: `make run` and `make test`.
VENV := .venv
PY := $(VENV)/bin/python
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export RTCH_HOME ?= $(CURDIR)/artifacts/home

.PHONY: run test check format test-services bench bench-quality clean

$(STAMP): pyproject.toml
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade 'pip>=25.1'
	$(PY) -m pip install --quiet --group dev --editable .
	touch $(STAMP)

run: $(STAMP)
	@$(BIN)/rtch run config/intakes/how-stages-are-cached.yaml

test: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile -m 'not services'

check: $(STAMP)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(PY) tests/checked_files.py

format: $(STAMP)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

test-services: $(STAMP)
	bash tests/services/install.sh $(PY)
	$(BIN)/pytest -m services

# SIZES="650 10000" for fewer trees, REPEAT=3 for fewer runs, TREE=DIR for a tree of yours, in which SEED=TERM is looked for.
bench: $(STAMP)
	@$(PY) tests/bench/run.py $(if $(TREE),--tree "$(TREE)") $(if $(SEED),--seed "$(SEED)") \
		$(if $(SIZES),--sizes $(SIZES)) $(if $(REPEAT),--repeat $(REPEAT)) $(OPTIONS)

bench-quality: $(STAMP)
	$(PY) tests/bench/quality/run.py --bench "$(BENCH)"

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
