# Everything runs in .venv, which is made when needed and made again when the build files change.
PYTHON ?= python3
PYTHONS ?= python3.12 python3.13 python3.14
BIN := .venv/bin
SOURCES := $(wildcard cpp/*/*) CMakeLists.txt pyproject.toml
ENGINE := $(filter-out cpp/python/% cpp/checks/%,$(wildcard cpp/*/*.cpp))
STUB := src/bandit_forest/_core.pyi
SAMPLES := build/obp-0.5.7/obp/dataset/obd

.PHONY: notebooks wheels demo test test-peers test-ray check sanitize sanitize-threads clang bench results reference docs stub format clean

demo: .venv/installed
	$(BIN)/bandit-forest demo

test: .venv/installed
	$(BIN)/pytest

# What touches other tools, with those tools installed, and the samples of the Open Bandit Dataset in obp's package.
test-peers: .venv/peers $(SAMPLES)
	BANDIT_FOREST_OPEN_BANDIT=$(SAMPLES) $(BIN)/pytest tests/evaluation tests/adapters

# Launchers on a real Ray cluster.
test-ray: .venv/ray
	$(BIN)/pytest tests/distributed

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m nanobind.stubgen -q -m bandit_forest._core -o build/_core.pyi
	diff -u $(STUB) build/_core.pyi

# The engine under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own.
sanitize: build/sanitize/installed
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  build/sanitize/bin/python -m pytest -p no:cacheprovider -m core tests

# The engine built by clang equals the reference, and clang-tidy finds nothing in it.
clang: build/clang/installed
	build/clang/bin/python -m pytest -q -p no:cacheprovider -m core tests/reference
	timeout 900 clang-tidy -p build/clang-objects --quiet $(filter-out cpp/python/%,$(wildcard cpp/*/*.cpp))

# Threads on one forest under ThreadSanitizer.
sanitize-threads: build/checks/concurrency
	build/checks/concurrency

build/checks/concurrency: $(SOURCES)
	mkdir -p build/checks
	clang++ -std=c++20 -O1 -g -UNDEBUG -fsanitize=thread -Icpp -o $@ cpp/checks/concurrency.cpp $(ENGINE) -lpthread

build/checks/fuzz_archive: $(SOURCES)
	mkdir -p build/checks
	clang++ -std=c++20 -O1 -g -UNDEBUG -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icpp -o $@ \
	  cpp/checks/fuzz_archive.cpp $(ENGINE)

bench: .venv/installed .venv/bench
	$(BIN)/python benchmarks/speed.py

# Tables and figures of the docs from the rows in results/.
results: .venv/installed
	$(BIN)/bandit-forest report results --page docs/results.md --page docs/readings.md
	cp $(patsubst %,results/figures/paper-%.png,covtype adult census1990 depth size) docs/figures/

# Reference pages from the code.
reference: .venv/installed
	PYTHONPATH=benchmarks $(BIN)/python tools/reference_pages.py

# The site in site/: built without a warning, every link followed, every page visited by headless Chromium.
docs: .venv/docs reference
	$(BIN)/zensical build --clean --strict
	$(BIN)/python tools/check_site.py

# The notebooks, executed from the first cell to the last.
notebooks: .venv/notebooks
	$(BIN)/python tools/run_notebooks.py

# Source archive and wheels in dist/, built and checked; with TEST=--test also tested in empty environments.
wheels: .venv/release
	$(BIN)/python tools/wheels.py $(TEST) $(PYTHONS)

stub: .venv/installed
	$(BIN)/python -m nanobind.stubgen -q -m bandit_forest._core -o $(STUB)

format: .venv/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build dist out site

.venv/tools: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --upgrade pip "scikit-build-core>=1.1" "nanobind>=3.1" cmake ninja setuptools wheel
	touch $@

.venv/installed: .venv/tools $(SOURCES)
	$(BIN)/pip install -q --no-build-isolation -e ".[dev]"
	mkdir -p build
	touch $@

.venv/bench .venv/docs .venv/notebooks .venv/peers .venv/ray .venv/release: .venv/installed
	$(BIN)/pip install -q --no-build-isolation -e ".[dev,$(notdir $@)]"
	touch $@

# An environment of its own with the package built in another way: the tools of .venv, and these settings of CMake.
define other-build
	$(PYTHON) -m venv --system-site-packages build/$(1)
	$(PYTHON) -c "import pathlib; site = next(pathlib.Path('.venv/lib').glob('python*/site-packages')).resolve(); \
	  next(pathlib.Path('build/$(1)/lib').glob('python*/site-packages')).joinpath('tools.pth').write_text(str(site))"
	build/$(1)/bin/python -m pip install -q --no-build-isolation --no-deps --ignore-installed . \
	  $(patsubst %,--config-settings=cmake.define.%,$(2) BANDIT_FOREST_WERROR=ON) --config-settings=build-dir=build/$(1)-objects
	touch $@
endef

# obp does not install on Python 3.11: only its files are wanted.
$(SAMPLES):
	mkdir -p build
	$(BIN)/pip download -q --no-deps --ignore-requires-python --dest build obp==0.5.7
	tar -xzf build/obp-0.5.7.tar.gz -C build $(@:build/%=%)

build/sanitize/installed: .venv/installed
	$(call other-build,sanitize,BANDIT_FOREST_SANITIZE=ON)

build/clang/installed: .venv/installed
	$(call other-build,clang,CMAKE_CXX_COMPILER=clang++ CMAKE_EXPORT_COMPILE_COMMANDS=ON)
