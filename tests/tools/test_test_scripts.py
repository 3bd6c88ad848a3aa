"""The scripts that run tests and prepare them, with programs that stand in for the real ones."""

import os
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
CTEST = "100% tests passed, 0 tests failed out of 5"


@pytest.fixture
def tree(tmp_path):
    """A tree with the scripts and a .venv of which each test writes the programs."""
    for folder in ("tools", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for script in ("run_tests.sh", "count_processes.sh", "set_up_tests.sh", "lint.sh"):
        write_program(tmp_path / "tools" / script, (TOOLS / script).read_text())
    return tmp_path


def write_program(path, text):
    """A script that can be executed."""
    path.write_text(text)
    path.chmod(0o755)


def run_tests(tree, *, ctest=(CTEST, 0), pytest_=("7 passed in 1.00s", 0)):
    """Runs tools/run_tests.sh on runners that print and end as given: code, last line, errors."""
    for name, (output, code) in (("ctest", ctest), ("python", pytest_)):
        program = f"#!/bin/sh\necho '{output}'\nexit {code}\n"
        write_program(tree / ".venv/bin" / name, program)
    done = subprocess.run([tree / "tools/run_tests.sh"], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()[-1], done.stderr


def test_all_tests_that_pass_are_a_success(tree):
    assert run_tests(tree) == (0, "12 passed, 0 failed", "")


def test_a_failed_test_is_counted_once(tree):
    code, last, errors = run_tests(tree, pytest_=("1 failed, 6 passed in 1.00s", 1))
    assert (code, last, errors) == (1, "11 passed, 1 failed", "")


@pytest.mark.parametrize(
    ("processors", "gigabytes", "processes"),
    [(1, 64, 2), (3, 64, 3), (16, 64, 4), (4, 10, 3), (8, 4, 2)],
)
def test_there_is_a_process_for_each_processor_that_has_the_memory(
    tree, processors, gigabytes, processes
):
    write_program(tree / ".venv/bin/nproc", f"#!/bin/sh\necho {processors}\n")
    memory = tree / "meminfo"
    memory.write_text(f"MemTotal:       {gigabytes}000000 kB\nMemFree:        1000 kB\n")
    path = f"{tree / '.venv/bin'}:{os.environ['PATH']}"
    counted = subprocess.check_output(
        [tree / "tools/count_processes.sh", memory], env={**os.environ, "PATH": path}, text=True
    )
    assert counted == f"{processes}\n"


@pytest.mark.parametrize(
    "runs",
    [
        {"pytest_": ("3 passed in 1.00s", 2)},
        {"pytest_": ("3 passed in 1.00s", 139)},
        {"ctest": (CTEST, 8)},
    ],
    ids=["pytest interrupted", "pytest crashed", "ctest"],
)
def test_a_runner_that_ends_with_an_error_of_its_own_is_a_failure(tree, runs):
    code, last, errors = run_tests(tree, **runs)
    assert code == 1
    assert last.endswith("passed, 1 failed")
    assert "stopped early" in errors


def test_packages_of_tests_that_were_not_installed_are_tried_again(tree):
    write_program(tree / ".venv/bin/python", "#!/bin/sh\necho tried >>tried\nexit 1\n")
    (tree / "requirements").mkdir()
    (tree / "requirements/tests.txt").write_text("one==1\n")
    (tree / "tools/test_packages.txt").write_text("")
    script = [tree / "tools/set_up_tests.sh"]
    for _ in range(2):
        by_hand = subprocess.run(
            script, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
        )
        assert by_hand.returncode == 0
        assert "some tests are skipped" in by_hand.stderr
    in_ci = subprocess.run(script, env={"PATH": "/usr/bin:/bin", "CI": "1"})
    assert in_ci.returncode == 3
    assert (tree / "tried").read_text() == "tried\n" * 3


LINTERS = ("clang-format", "ruff", "mypy", "lint-imports", "cmake", "python")


@pytest.mark.parametrize("failing", ["", "clang-format", "mypy", "python", "lint_changed.py"])
def test_a_linter_that_complains_is_a_failure(tree, failing):
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    programs = [*(tree / ".venv/bin" / name for name in LINTERS), tree / "tools/lint_changed.py"]
    for program in programs:
        is_failing = int(program.name == failing)
        write_program(program, f"#!/bin/sh\necho {program.name} was here\nexit {is_failing}\n")
    done = subprocess.run([tree / "tools/lint.sh"], capture_output=True, text=True)
    assert done.returncode == int(failing != ""), done
    assert "lint_changed.py was here" in done.stdout
    assert f"{failing or 'mypy'} was here" in done.stdout
