"""The rules of the root's conftest.py, on small test files."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[2] / "conftest.py"
INI = "[pytest]\nmarkers = engine\n  slow\n  long\n"
BUSY = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
# A child that ended, and one that lives until the session ends.
BUSY_CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])\n"
BUSY_SERVER = (
    "import subprocess, sys\n"
    f"child = subprocess.Popen([sys.executable, '-c', {BUSY + 'print(1, flush=True); input()'!r}],"
    " stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
    "child.stdout.readline()\n"
)


@pytest.fixture
def outcomes(pytester, monkeypatch):
    """Runs a test file in a process of its own; its outcomes and its output."""

    def run(source: str, *arguments: str, ci: str = ""):
        monkeypatch.setenv("CI", ci)
        pytester.makeconftest(CONFTEST.read_text(encoding="utf-8"))
        pytester.makeini(INI)
        pytester.makepyfile(source)
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
        return result.parseoutcomes(), result.stdout.str()

    return run


def make_test(body: str, mark: str = "") -> str:
    """A file of one test."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"import pytest\n{mark}\ndef test_it():\n{lines}"


@pytest.mark.parametrize("body", [BUSY, BUSY_CHILD, BUSY_SERVER], ids=["own", "child", "server"])
def test_a_fast_test_fails_by_its_cpu_time(outcomes, body):
    found, text = outcomes(make_test(body), "--fast-limit", "0.25")
    assert found == {"passed": 1, "errors": 1}
    assert "s of CPU time: mark it slow" in text


def test_a_thread_that_ended_hides_no_child_of_others(tmp_path):
    spec = importlib.util.spec_from_file_location("rules", CONFTEST)
    rules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rules)
    # A folder like /proc/PID, whose first thread ends between the listing and the reading.
    for thread, children in (("1", None), ("2", "11 12 "), ("3", "13 ")):
        (tmp_path / "task" / thread).mkdir(parents=True)
        if children is not None:
            (tmp_path / "task" / thread / "children").write_text(children)
    process = f"..{tmp_path}"  # Below /proc.
    assert sorted(rules._list_children(process)) == ["11", "12", "13"]


@pytest.mark.parametrize(
    ("body", "mark"), [("import time; time.sleep(0.5)", ""), (BUSY, "@pytest.mark.slow")]
)
def test_waiting_and_marked_tests_pass(outcomes, body, mark):
    assert outcomes(make_test(body, mark), "--fast-limit", "0.25")[0] == {"passed": 1}


SKIPS = [
    make_test("pytest.skip('no valgrind here')"),
    make_test("pass", "@pytest.mark.skipif(True, reason='no valgrind here')"),
    "import pytest\npytest.skip('no valgrind here', allow_module_level=True)\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", SKIPS, ids=["test", "mark", "file"])
def test_a_skip_for_want_of_a_tool_fails_in_ci_alone(outcomes, source):
    assert outcomes(source)[0] == {"skipped": 1}
    found, text = outcomes(source, ci="true")
    assert set(found) <= {"failed", "errors"}
    assert "no valgrind here (CI skips no test for this)" in text


def test_what_a_machine_may_lack_is_skipped_in_ci_too(outcomes):
    source = make_test("pytest.skip('this file system lies in memory')")
    assert outcomes(source, ci="true")[0] == {"skipped": 1}


def test_an_expected_failure_is_no_skip(outcomes):
    source = make_test("assert False", "@pytest.mark.xfail")
    assert outcomes(source, ci="true")[0] == {"xfailed": 1}


def read_longest() -> list[str]:
    """The names in LONGEST of the root's conftest.py."""
    (names,) = re.findall(r"^LONGEST = \((.*?)^\)", CONFTEST.read_text(), re.DOTALL | re.MULTILINE)
    return re.findall(r'"(.*)"', names)


def test_the_longest_files_are_there() -> None:
    names = read_longest()
    assert names
    assert [name for name in names if not (CONFTEST.parent / name).exists()] == []


def test_processes_that_share_files_take_the_longest_first(pytester) -> None:
    longest = read_longest()[0]
    pytester.makeconftest(CONFTEST.read_text(encoding="utf-8").replace(longest, "test_z.py"))
    pytester.makeini(INI)
    pytester.makepyfile(**{name: "def test_it(): pass" for name in ("test_a", "test_z")})
    share = ("-n", "1", "--dist", "loadfile", "--no-loadscope-reorder", "-v")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *share)
    result.stdout.fnmatch_lines(["*PASSED test_z.py*", "*PASSED test_a.py*"])
    alone = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-v")
    alone.stdout.fnmatch_lines(["test_a.py*PASSED*", "test_z.py*PASSED*"])
