"""Drives the real `assay` as a user does: files in a folder, a command line, what it prints.

Each Workplace has a home, a store and a device lock of its own, so tests disturb neither each other
nor what the user has measured.
"""

import atexit
import contextlib
import functools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warm_python import find_warm_python

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))

Document = dict[str, Any]

VECTOR: Document = {"dtype": "float32", "shape": [1, 4]}

FAST_MEASURE: Document = {
    **{"launches": 1, "warmup": 1, "iterations": 4, "time_budget": "2s"},
    "passes": ["timing"],
}


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Document:
        """Parses its output as JSON."""
        return json.loads(self.out)

    def __str__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def assert_told(finished: Finished, code: int, *parts: str) -> None:
    """It ended with the code, said all the parts on stderr, and no more than a few lines."""
    assert finished.code == code, finished
    for part in parts:
        assert part in finished.err, finished
    assert len(finished.err.splitlines()) <= 8, finished


@functools.cache
def find_descriptions() -> Path:
    """A home in which every runner of the build has described itself, which takes CPU time."""
    home = Path(tempfile.mkdtemp(prefix="described-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    command = [str(BIN / "assay"), "list", "engines"]
    env = {**os.environ, "ASSAY_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    subprocess.run(command, env=env, capture_output=True, check=False)
    return home / "engines" / "described"


class Workplace:
    """A folder with a home for Assay, and the files of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.store = self.home / "assay.db"
        temporary = folder / "temporary"
        temporary.mkdir()
        # readline gives each process of pytest the width of a terminal that it does not have.
        self.env = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith("ASSAY_") and name != "COLUMNS"
            },
            "ASSAY_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "ASSAY_RUNTIME_DIR": str(folder / "runtime"),
            "TMPDIR": str(temporary),  # A killed process leaves its folders.
            "NO_COLOR": "1",
        }
        if find_descriptions().exists():
            shutil.copytree(find_descriptions(), self.home / "engines" / "described")

    @property
    def python(self) -> str:
        """The toolchain's interpreter, with its imports done."""
        return find_warm_python()

    # ---- files

    def program(self, name: str, **fields: Any) -> Path:
        """A program of the fake engine; one float32 vector in and out unless said otherwise."""
        path = self.folder / f"{name}.fake.json"
        described = {"inputs": [VECTOR], "outputs": [VECTOR], **fields}
        path.write_text(json.dumps(described), encoding="utf-8")
        return path

    def spec(self, *models: Path | Document, name: str = "spec", **fields: Any) -> Path:
        """A spec over fake programs that measures next to nothing."""
        document = {
            "schema": "assay/spec/1",
            "models": [
                model if isinstance(model, dict) else {"ref": str(model)} for model in models
            ],
            "engines": ["fake"],
            "measure": FAST_MEASURE,
            **fields,
        }
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def register(self, engine: str, label: str, runner: Path) -> None:
        """A runner as `assay engine add` would have left it, had it built this one."""
        registry = self.home / "engines" / "engines.json"
        registry.parent.mkdir(parents=True, exist_ok=True)
        build = {"name": engine, "label": label, "runner": str(runner), "build_id": "by hand"}
        document = {"schema": "assay/engines/1", "builds": [{**build, "details": {}}]}
        registry.write_text(json.dumps(document), encoding="utf-8")

    def use_script_as_toolchain(self, script: Path) -> None:
        """Python of ahead-of-time work that answers every request by this script."""
        self._write_shell("python", f'exec {sys.executable} {script} "$@"')
        self.env["ASSAY_PYTHON"] = str(self.folder / "python")

    def register_fake_as(self, engine: str, label: str, *, fmt: str, does: str = "") -> None:
        """The fake engine under another engine's name; `does` stands in for it in the shell."""
        fake = BIN / "assay-runner-fake"
        names = f"""-e 's/"name": "fake"/"name": "{engine}"/' -e 's/^    "fake"$/    "{fmt}"/'"""
        describe = f'if [ "$1" = --describe ]; then {fake} --describe | sed {names}; exit; fi'
        runner = self._write_shell(f"runner-{label}", describe, does or f'exec {fake} "$@"')
        self.register(engine, label, runner)

    def _write_shell(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
        path.chmod(0o755)
        return path

    # ---- commands

    def start(
        self, *arguments: str | Path, cwd: Path | None = None, program: Path = BIN / "assay"
    ) -> subprocess.Popen[str]:
        """`assay` in a process group of its own, as from a shell."""
        return subprocess.Popen(
            [str(program), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            cwd=cwd or self.folder,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def run(
        self, *arguments: str | Path, cwd: Path | None = None, timeout_s: float = 120
    ) -> Finished:
        """Runs `assay` to its end. A command that does not end is a failure."""
        return wait_for_end(self.start(*arguments, cwd=cwd), timeout_s)

    def ok(self, *arguments: str | Path) -> Finished:
        """Runs `assay` to an end without findings."""
        finished = self.run(*arguments)
        assert finished.code == 0, finished
        return finished

    def report(self, run: str = "latest") -> Document:
        """The JSON report of a stored run."""
        finished = self.run("report", run, "--format", "json")
        assert finished.code in (0, 1, 5, 6), finished
        return finished.json()

    # ---- what is left

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows of the store."""
        with contextlib.closing(sqlite3.connect(self.store, timeout=20)) as connection:
            return connection.execute(sql, values).fetchall()

    def launch_ids(self) -> set[str]:
        """Stored launches; none before the store has its tables."""
        is_made = self.store.exists() and self.query(
            "select 1 from sqlite_master where name = 'launch'"
        )
        return {id_ for (id_,) in self.query("select id from launch")} if is_made else set()

    def processes(self) -> list[str]:
        """Command lines of living processes that were started for this workplace."""
        return [command for _, command in self._processes()]

    def process_ids(self) -> list[int]:
        """Ids of those processes."""
        return [pid for pid, _ in self._processes()]

    def _processes(self) -> Iterator[tuple[int, str]]:
        mark = f"ASSAY_HOME={self.home}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    yield int(entry.name), command.strip()

    def clean_up(self) -> None:
        """Ends what a failed test left running."""
        for pid in self.process_ids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def wait_until(is_so: Callable[[], bool], timeout_s: float = 20) -> None:
    """Looks again every few milliseconds."""
    end = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.005)


def wait_for_end(process: subprocess.Popen[str], timeout_s: float = 120) -> Finished:
    """Collects what it prints until it ends."""
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"did not end in {timeout_s} s\n{out}\n{err}") from None
    return Finished(process.returncode, out, err)


def case_of(report: Document, model: str) -> Document:
    """The one case of a model in a JSON report, by the last part of the model's name."""
    models = [case["model"].rpartition("/")[2].removesuffix(".fake") for case in report["cases"]]
    assert models.count(model) == 1, f"one case of {model} expected, there are {models}"
    return report["cases"][models.index(model)]
