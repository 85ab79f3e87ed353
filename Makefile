# One command each: `make lab` opens the course, `make test` checks it, `make course` executes it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SCALE  ?= laptop
JOBS   ?= 2
EVIDENCE ?=
WITH   := $(if $(EVIDENCE),--evidence)
# An address with other builds of PyTorch, such as those for the CPU alone: notebooks/any_machine.md.
TORCH_INDEX ?=
PIP    := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt \
          $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: lab course test test-slow test-study test-notebooks test-evidence test-browser notebooks pages site bench lint doctor clean help

help:
	@echo "make lab                  install everything into $(VENV) and open JupyterLab on notebook 00"
	@echo "make course SCALE=laptop  execute the lessons headless into build/ (smoke, laptop, night, gpu, paper)"
	@echo "make course EVIDENCE=1    the evidence beside the lessons, too; so for make notebooks"
	@echo "make test                 install and run the tests; every lesson is executed, at SCALE=smoke"
	@echo "make test-slow            processes that are killed, full disks, other environments; the evidence at SCALE=smoke"
	@echo "make test-study           the runs and words of the register, before a release"
	@echo "make test-notebooks       execute the lessons as stored (laptop) and compare their verdicts;"
	@echo "                          and at SCALE=smoke on a stand-in for CUDA"
	@echo "make test-evidence        the same for the evidence, before a release"
	@echo "make notebooks            execute notebooks/source/*.py into the committed notebooks"
	@echo "make pages                write the notebooks as HTML pages that need neither Python nor network"
	@echo "make site                 write the whole course as a web site that needs no server"
	@echo "make test-browser         JupyterLab and the pages in Chromium, sliders by keyboard (SCALE=smoke);"
	@echo "                          CALIBKIT_EVERY_PAGE=1: every page and notebook, before a release"
	@echo "make bench                print speed ratios against the fastest peers"
	@echo "make lint                 check the style of the code, and the types"
	@echo "make clean                remove build/"
	@echo "make doctor               say what is installed, which device is used, what is missing"
	@echo "TORCH_INDEX=ADDRESS       with any of them, before the first: other builds of PyTorch,"
	@echo "                          such as those for the CPU alone (notebooks/any_machine.md)"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "calibkit needs Python 3.11 or newer; run make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "this Python cannot make a virtual environment; on Debian or Ubuntu: apt install python3-venv"; exit 1; }

# A stamp per extra: a repeated call installs nothing unless the requirements changed. Interrupted, it goes on.
$(VENV)/.course: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing the course into $(VENV), once: on Linux about 3 GB to download and 6 GB of disk, most of it PyTorch"
	@echo "with CUDA, in some minutes; the build for the CPU alone is a tenth of it (notebooks/any_machine.md)"
	$(PIP) -e '.[course]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.site: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[site]'
	@touch $@

$(VENV)/.browser: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e '.[browser]'
	@touch $@

lab: $(VENV)/.course
	$(BIN)/python -m calibkit lab $(LAB_ARGS)

course: $(VENV)/.course
	$(BIN)/python -m calibkit course --scale $(SCALE) --jobs $(JOBS) $(WITH)

notebooks: $(VENV)/.course
	$(BIN)/python -m calibkit notebooks $(ONLY) $(WITH)
	$(BIN)/python -m calibkit open

pages: $(VENV)/.course
	$(BIN)/python -m calibkit pages $(ONLY)

site: $(VENV)/.site
	$(BIN)/python -m calibkit site

# loadfile: the tests of one file share what it builds
test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not slow" --ignore tests/study $(ARGS)

# what the evidence trains and judges, before a release
test-study: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile tests/study $(ARGS)

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m slow tests $(ARGS)

# loadfile: the cells of one notebook must meet the same kernel; ports: two workers must not draw one. One
# thread and one process each, as in tests/conftest.py: two kernels share two cores; figures are not encoded.
test-notebooks test-evidence: export OMP_NUM_THREADS = 1
test-notebooks test-evidence: export LOKY_MAX_CPU_COUNT = 1
test-notebooks test-evidence: export MPLBACKEND = agg
test-notebooks: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -p tests.notebooks.ports notebooks --ignore notebooks/evidence \
	  tests/notebooks/pretended.py::test_a_lesson_runs $(ARGS)

test-evidence: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -p tests.notebooks.ports notebooks/evidence \
	  tests/notebooks/pretended.py::test_its_evidence_runs $(ARGS)

# no doctests here: `make test` has them
test-browser: SCALE = smoke
test-browser: $(VENV)/.browser
	$(BIN)/python -m tests.browser.chromium
	CALIBKIT_BROWSER_SCALE=$(SCALE) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile -o addopts= tests/browser $(ARGS)

bench: $(VENV)/.test
	$(BIN)/python -m tests.benchmarks $(ONLY)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy

doctor: $(VENV)/.course
	$(BIN)/python -m calibkit doctor

clean:
	rm -rf build
