"""Rules of every test: a fast one is fast, and CI skips none for want of a tool.

A test without the marks engine, slow and long is fast: `make check` runs it, and it fails when it
takes more CPU time than `--fast-limit`. CPU time depends less than wall time on what else the
machine does, but still varies fourfold between machines: a test over 2 s is marked slow, and the
limit is ten times that.
"""

import json
import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

NOT_FAST = ("engine", "slow", "long")

MAY_LACK = (
    "this processor's int8 products saturate",
    "needs a processor with AVX-512 whose CPUID can be made to fault",
    "this kernel or container lacks Landlock, namespaces or seccomp",
    "this file system lies in memory",
    "no small disk here",
    # A language is what a machine's owner chooses.
    "locale-gen makes one",
    # A clone in a home that is closed to others, as root's is.
    "another user cannot read the binaries",
    # A second environment of 2 GB, which `make litert` makes.
    "make litert",
    # Libraries that only those install who accept their licence.
    "make qnn",
    # A layer of 250 MB over the first environment, which `make arm` makes.
    "make arm",
)
"""Reasons to skip a test that hold in CI, too: properties of the machine, not tools to install."""

LONGEST = (
    "tests/docs/test_documents.py",
    "delegates/fixedpoint/tests/test_fixedpoint_programs.py",
    "tests/e2e/test_program_files.py",
    "tests/e2e/test_watch.py",
    "tests/e2e/test_engines.py",
    "tests/e2e/test_reduce.py",
    "tests/e2e/test_bisect_wheels.py",
    "tests/devices/test_several.py",
    "delegates/fixedpoint/tests/test_fixedpoint_int16.py",
    "python/tests/fleet/test_postgres_worker.py",
    "tests/e2e/test_fleet_postgres.py",
    "tests/devices/test_measuring.py",
    "tests/e2e/test_engine_builds.py",
    "delegates/fixedpoint/tests/test_fixedpoint_left.py",
    "tests/e2e/test_fleet_ray.py",
    "python/tests/toolchain/test_toolchain_torch_caching.py",
    "python/tests/reduction/test_reduce_script.py",
    "delegates/fixedpoint/tests/test_fixedpoint_weight_bits.py",
    "python/tests/toolchain/test_toolchain_intermediate_outputs.py",
    "tests/e2e/test_mutants.py",
    "tests/e2e/test_compare.py",
    "tests/e2e/test_hostile_programs.py",
)
"""Files of tests that take 50 s or more, the longest first: none is the last that one process runs
while the others have nothing left. build/release/test-logs/pytest.xml has the time of each test."""

_STARTED = pytest.StashKey[float]()
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the limit and the log."""
    parser.addoption(
        "--fast-limit",
        type=float,
        default=20,
        metavar="SECONDS",
        help="CPU time that a fast test may take",
    )
    parser.addoption("--cpu-log", metavar="FILE", help="append the CPU time of each test to FILE")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts the longest files first where several processes share them."""
    if not hasattr(config, "workerinput"):
        return
    ranks = {config.rootpath / name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def _serves_all_tests(pid: str) -> bool:
    """Returns true for the toolchain that is started once, and not for one test."""
    try:
        return b"warm_python.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _read_children(task: Path) -> list[str]:
    """Ids of the living children that a thread has started; none of a thread that has ended."""
    try:
        return (task / "children").read_text().split()
    except OSError:
        return []


def _list_children(pid: str) -> list[str]:
    """Ids of the living children of a process.

    Threads that end meanwhile, as those do that read from a killed child, hide no child of others:
    a server that was not seen at the start would be charged to the test for its whole life.
    """
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
    return [child for task in tasks for child in _read_children(task)]


def _read_cpu_s(pid: str) -> float:
    """CPU time of a process, its ended children and its living descendants."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    own = sum(int(field) for field in fields[11:15]) / _CLOCK_TICKS
    children = [child for child in _list_children(pid) if not _serves_all_tests(child)]
    return own + sum(map(_read_cpu_s, children))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Notes the CPU time at the start."""
    item.stash[_STARTED] = _read_cpu_s("self")
    return (yield)


def _explain_slowness(item: pytest.Item, spent_s: float) -> str:
    """Says why a fast test fails for its CPU time; empty if it does not."""
    limit_s = item.config.getoption("--fast-limit")
    if spent_s <= limit_s:
        return ""
    if any(item.get_closest_marker(mark) for mark in NOT_FAST):
        return ""
    return f"took {spent_s:.1f} s of CPU time: mark it slow, or make it faster than {limit_s:g} s"


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skip for want of a tool into a failure where CI is set."""
    if not os.environ.get("CI") or not report.skipped or hasattr(report, "wasxfail"):
        return
    longrepr = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    if not any(allowed in reason for allowed in MAY_LACK):
        report.outcome = "failed"
        report.longrepr = f"{re.sub('^Skipped: ', '', reason)} (CI skips no test for this)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails what is too slow, and what CI may not skip."""
    report = yield
    _forbid_skip(report)
    if call.when == "teardown":
        spent_s = _read_cpu_s("self") - item.stash[_STARTED]
        if (log := item.config.getoption("--cpu-log")) is not None:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"test": item.nodeid, "cpu_s": round(spent_s, 2)}) + "\n")
        if report.passed and (text := _explain_slowness(item, spent_s)):
            report.outcome = "failed"
            report.longrepr = text
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fails a file that CI may not skip."""
    report = yield
    _forbid_skip(report)
    return report
