# The front door. Every target is complete on a fresh machine and quick when nothing is left to do.
SHELL := /bin/bash
BIN := build/release/bin
AARCH64_TARGETS := assay-agent assay-runner-fake fixedpoint assay-bundle-executorch assay-bundle-openvino

.PHONY: help build litert qnn arm demo test test-long test-sanitized lint check lint-all format fuzz aarch64 fixedpoint-aarch64 bench wheel sbom test-wheel test-fresh hashes validate-statistics mutation-score clean
help:            ## this list
	@grep -hE '^[a-z0-9-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 22

build: ##          set up what is missing and build
	@tools/set_up.sh
	@.venv/bin/cmake --build build/release | tail -1

litert: ##         .venv-litert, the toolchain that makes programs for LiteRT
	@tools/set_up_litert.sh

qnn: ##            QNN's libraries with their emulator of HTP; Qualcomm's licence holds for them
	@tools/set_up_qnn.sh

arm: ##            .venv-arm, what makes and executes programs of Arm's backends without their chips
	@tools/set_up_arm.sh

demo: ##           MobileNets on ExecuTorch, measured and evaluated: a table and report.html
	@tools/set_up.sh
	@.venv/bin/cmake --build build/release --target assay_programs | tail -1
	$(BIN)/assay run specs/mobilenet.json --report report.html

test: build ##     all tests
	@tools/set_up_tests.sh
	@tools/run_tests.sh $(CTEST)

test-long: build ## the tests that make test leaves out: further recipes of each engine, larger networks
	@tools/set_up_tests.sh
	.venv/bin/python -m pytest -q -p no:cacheprovider -n "$$(tools/count_processes.sh)" -m long tests python/tests delegates

	@$(MAKE) --no-print-directory test-wheel

wheel: ##          wheels of Assay and of the fixed-point delegate, and the sources, in dist
	@tools/set_up.sh
	@tools/make_wheel.sh

test-wheel: wheel ## installs the wheels in a bare Debian root and tries them (as root, a gigabyte)
	@tools/test_wheel.sh

test-fresh: ##     the README's commands on a clone in a bare Debian root (as root, 15 GB, more than an hour)
	@tools/set_up.sh
	@tools/install_packages.sh tools/wheel_test_packages.txt
	@.venv/bin/python tests/release/fresh_root.py $(FRESH)

sbom: ##           what the wheel contains of others and needs, as build/sbom/assay.cdx.json
	@tools/set_up.sh
	@.venv/bin/python tools/make_sbom.py build/sbom/assay.cdx.json

hashes: ##         requirements/*.hashes.txt, after a list there has changed
	@tools/hash_requirements.sh

check: lint ##     what a developer runs before a commit: format, lint, layers, fast tests
	@tools/set_up_tests.sh
	@tools/run_fast_tests.sh

lint: build ##     format, types, layers, prose, and clang-tidy on what changed since it last passed
	@tools/lint.sh

lint-all: build ## clang-tidy on everything, with the check of includes for every source
	@.venv/bin/cmake --preset lint >/dev/null
	@tools/lint_changed.py --all

format: ##         rewrite C++ and Python in the house format
	@git ls-files '*.h' '*.cpp' | xargs .venv/bin/clang-format -i
	@.venv/bin/ruff format -q conftest.py python tools tests specs examples delegates bench studies
	@.venv/bin/ruff check -q --fix conftest.py python tools tests specs examples delegates bench studies

test-sanitized: ## the fast C++ tests with AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/set_up.sh
	@tools/run_sanitized.sh

fuzz: ##           each fuzz target for 60 s; installs clang-19 when it is missing
	@tools/set_up.sh
	@tools/run_fuzz.sh 60

aarch64: ##        agent and delegate for devices with 64-bit Arm, and bundles of the engines' runners, in build/aarch64
	@tools/set_up_aarch64.sh
	@.venv/bin/cmake --build build/aarch64 --target $(AARCH64_TARGETS) | tail -1
	@mkdir -p $(BIN) && ln -sfn ../../aarch64 $(BIN)/aarch64-linux-gnu

fixedpoint-aarch64: ## the delegate's kernels for 64-bit Arm, built and compared under qemu
	@tools/set_up_aarch64.sh
	@delegates/fixedpoint/tools/check_aarch64.sh

bench: build ##    what Assay itself costs
	$(BIN)/assay-bench

validate-statistics: build ## how often a comparison is wrong: an hour of a quiet machine, writes docs/results/validation.md
	.venv/bin/python studies/validation/record.py build/validation
	.venv/bin/python studies/validation/page.py build/validation

mutation-score: build ## how many faults of kernels the conformance cases find: ten minutes, writes docs/results/mutation-score.md
	PYTHONPATH=python .venv/bin/python studies/mutation/score.py build/mutation --page docs/results/mutation-score.md

clean: ##          remove what was built; .venv stays
	rm -rf build
