"""Engines are built from the commits of a repository, and measured like any other engine."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import BIN, ROOT, Document, Finished, Workplace, wait_for_end, wait_until
from git_folder import GitFolder

FAKE = BIN / "assay-runner-fake"
SYNTHETIC = ROOT / "tests" / "campaigns" / "synthetic_repository" / "make_repository.py"


class Source(GitFolder):
    """A git repository, and the repository file that names it."""

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (self.folder / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"change {' '.join(files)}")
        return self.git("rev-parse", "HEAD")

    def file(self, *build: list[str], environment: Document | None = None, **top: object) -> Path:
        """A repository file whose builds are copies of the fake runner."""
        steps = [list(step) for step in build] or [["cp", str(FAKE), "{work}/runner"]]
        described = {"build": steps, "outputs": {"runner": "runner"}, "runner": "program"}
        document = {
            "schema": "assay/repository/1",
            "repository": {"url": str(self.folder)},
            "engine": "fake",
            "environments": {"default": described | (environment or {})},
            **top,
        }
        path = self.place.folder / "repository.json"
        path.write_text(json.dumps(document))
        return path


@pytest.fixture
def source(place: Workplace) -> Source:
    return Source(place)


def shell(script: str) -> list[str]:
    """A build step in the shell; the output is a copy of the fake runner."""
    return ["/bin/sh", "-ec", script]


COPY = f"cp {FAKE} runner"


def names_of_builds(place: Workplace) -> list[str]:
    return [line.split()[0] for line in place.ok("engine", "list").out.splitlines()]


def builds_made(place: Workplace) -> int:
    """Lines that builds have appended to the file next to their work folder."""
    files = list(place.home.glob("repositories/*/default/count"))
    return len(files[0].read_text().splitlines()) if files else 0


def test_a_commit_is_built_and_measured(place: Workplace, source: Source) -> None:
    commit = source.commit(code="1")
    name = f"fake@{commit[:12]}"
    built = place.ok("engine", "build", source.file(), "HEAD")
    assert f"{name}  built in " in built.out
    assert "change code" in built.out
    assert names_of_builds(place) == [name]
    spec = place.spec(place.program("net"), engines=[name])
    place.ok("run", spec, "--quiet")
    assert place.query("select engine_build from run_case") == [(name,)]
    rows = place.query(
        "select run_case.run from run_case join engine_build on run_case.engine_build = "
        "engine_build.reference where engine_build.revision = ?",
        commit,
    )
    assert len(rows) == 1
    entry = next(place.home.glob("builds/??/*/build.json"))
    document = json.loads(entry.read_text())
    assert document["schema"] == "assay/engine-build/1"
    assert document["outputs"] == {"runner": "runner"}
    assert document["outcome"] == "built"
    assert document["revision"] == commit
    assert Path(document["log"]).exists()
    assert (entry.parent / "runner").exists()


def test_two_commits_are_compared(place: Workplace, source: Source) -> None:
    first, second = source.commit(code="1"), source.commit(code="2")
    built = place.ok("engine", "build", source.file(), f"{first}", f"{first}..main")
    assert f"same outputs as {first[:12]}" in built.out, "both are the same runner"
    a, b = f"fake@{first[:12]}", f"fake@{second[:12]}"
    program = place.program("net", times_ns=[900_000])
    quick = ("--most-pairs", "10", "--no-canary", "--quiet")
    finished = place.run("compare", program, "--engine", f"{a},{b}", *quick, timeout_s=300)
    assert finished.code in (0, 6), finished
    assert {row for (row,) in place.query("select engine_build from run_case")} == {a, b}


def test_documents_and_reverts_are_not_built_again(place: Workplace, source: Source) -> None:
    count = shell(f"echo x >> ../count; {COPY}")
    file = source.file(count, paths={"exclude": ["*.md"]})
    first = source.commit(code="1")
    source.commit(**{"README.md": "words"})
    source.commit(code="2")
    source.commit(code="1")
    built = place.ok("engine", "build", file, first, f"{first}..HEAD")
    assert [line.split("  ")[1].split(";")[0][:8] for line in built.out.splitlines()] == [
        *("built in", "is there", "built in", "is there")
    ]
    assert builds_made(place) == 2
    assert len(names_of_builds(place)) == 4
    assert place.query("select count(*) from revision") == [(4,)]


def test_a_build_that_fails_is_a_result(place: Workplace, source: Source) -> None:
    file = source.file(shell("test -e {source}/good; " + COPY))
    bad = source.commit(code="1")
    good = source.commit(good="1")
    failed = place.run("engine", "build", file, bad, good)
    assert failed.code == 1, failed
    assert f"fake@{bad[:12]}  failed: step 1 (" in failed.out
    assert "exit code 1; log: " in failed.out
    assert f"fake@{good[:12]}  built in" in failed.out, "the others are built"
    assert names_of_builds(place) == [f"fake@{good[:12]}"]
    again = place.run("engine", "build", file, bad)
    assert again.code == 1
    assert "failed before: step 1" in again.out
    outcomes = place.query("select outcome from engine_build order by built_unix_ns")
    assert outcomes == [("failed",), ("built",)]
    missing = place.run("run", place.spec(place.program("net"), engines=[f"fake@{bad[:12]}"]))
    assert missing.code == 5, missing
    assert "unavailable" in missing.err


def test_a_commit_without_the_benchmark_is_told(place: Workplace, source: Source) -> None:
    source.commit(code="1")
    failed = place.run("engine", "build", source.file(["true"]), "HEAD")
    assert failed.code == 1
    assert "output 'runner' was not built" in failed.out


def test_a_build_that_hangs_is_ended(place: Workplace, source: Source) -> None:
    source.commit(code="1")
    file = source.file(shell("sleep 98761 & sleep 98762"), environment={"timeout": "500ms"})
    failed = place.run("engine", "build", file, "HEAD")
    assert failed.code == 1
    assert "took longer than 500 ms" in failed.out
    assert not running("sleep 9876")


def running(command: str) -> list[str]:
    """Command lines of processes that begin so."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, UnicodeDecodeError):
                continue
            if line.startswith(command):
                found.append(line)
    return found


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_no_failed_build(place: Workplace, source: Source, disk: Path) -> None:
    place.env["ASSAY_HOME"] = str(disk / "home")
    source.commit(code="1")
    full = place.run(
        "engine", "build", source.file(shell(f"head -c 99999999 /dev/zero > big; {COPY}")), "HEAD"
    )
    assert full.code == 3, full
    assert "full" in full.err
    assert not list(disk.glob("home/builds/??/*")), "it says nothing about the commit"
    assert "built in" in place.ok("engine", "build", source.file(), "HEAD").out


def test_a_killed_build_is_made_again(place: Workplace, source: Source) -> None:
    source.commit(code="1")
    slow = source.file(shell("sleep 98763"))
    process = place.start("engine", "build", slow, "HEAD")
    wait_until(lambda: bool(running("sleep 98763")))
    os.kill(process.pid, signal.SIGKILL)
    wait_for_end(process)
    wait_until(lambda: not running("sleep 98763"))
    built = place.ok("engine", "build", source.file(), "HEAD")
    assert "built in" in built.out
    place.ok("engine", "gc")
    assert not list((place.home / "builds" / "staging").iterdir())


def test_an_interrupt_ends_the_build(place: Workplace, source: Source) -> None:
    source.commit(code="1")
    process = place.start("engine", "build", source.file(shell("sleep 98764")), "HEAD")
    wait_until(lambda: bool(running("sleep 98764")))
    os.kill(process.pid, signal.SIGINT)
    finished = wait_for_end(process)
    assert finished.code in (124, 130), finished
    assert "interrupted" in finished.err, finished
    assert not running("sleep 98764")


def test_two_builders_build_once(place: Workplace, source: Source) -> None:
    source.commit(code="1")
    file = source.file(shell(f"echo x >> ../count; sleep 1; {COPY}"))
    processes = [place.start("engine", "build", file, "HEAD") for _ in range(2)]
    ends = [wait_for_end(process) for process in processes]
    assert [end.code for end in ends] == [0, 0], ends
    assert builds_made(place) == 1
    assert place.query("select count(*) from engine_build") == [(1,)]


def test_a_forced_push_loses_nothing(place: Workplace, source: Source) -> None:
    first = source.commit(code="1")
    lost = source.commit(code="2")
    file = source.file()
    place.ok("engine", "build", file, "HEAD")
    source.git("reset", "--quiet", "--hard", first)
    other = source.commit(code="3")
    built = place.ok("engine", "build", file, "HEAD", lost)
    assert "branch 'main' was force-pushed" in built.err
    assert f"fake@{other[:12]}" in built.out
    assert f"fake@{lost[:12]}  is there" in built.out
    assert "force-pushed" not in place.ok("engine", "build", file, "HEAD").err


def test_the_least_recently_used_builds_go(place: Workplace, source: Source) -> None:
    commits = [source.commit(code=str(i)) for i in range(3)]
    room = 2.5 * FAKE.stat().st_size
    file = source.file(shell(f"{COPY}; cat {{source}}/code >> runner"))
    limited = source.file(
        shell(f"{COPY}; cat {{source}}/code >> runner"), policy={"keep_builds": f"{int(room)}B"}
    )
    built = place.ok("engine", "build", limited, f"{commits[0]}", f"{commits[0]}..HEAD")
    assert "removed 1 of the least recently used builds" in built.err
    assert names_of_builds(place) == [f"fake@{one[:12]}" for one in commits[1:]]
    gone = place.ok("engine", "gc", "--max", "0")
    assert "removed 1 build" in gone.out
    assert "1 build" in gone.out.split("left")[1]
    assert names_of_builds(place) == [f"fake@{commits[2][:12]}"], "the newest stays"
    again = place.ok("engine", "build", file, commits[0])
    assert "built in" in again.out


def test_a_build_that_is_measured_stays(place: Workplace, source: Source) -> None:
    commit = source.commit(code="1")
    place.ok("engine", "build", source.file(), "HEAD")
    source.commit(code="2")
    place.ok("engine", "build", source.file(), "HEAD")  # The newest: the other has no pin now.
    program = place.program("net", misbehave={"at": "steady", "do": "hang"})
    name = f"fake@{commit[:12]}"
    process = place.start("run", place.spec(program, engines=[name]), "--quiet")
    runners = str(place.home / "builds")
    wait_until(lambda: any("--describe" not in command for command in running(runners)))
    place.ok("engine", "gc", "--max", "0")
    assert name in names_of_builds(place)
    os.kill(process.pid, signal.SIGKILL)
    wait_for_end(process)
    place.ok("engine", "gc", "--max", "0")
    assert name not in names_of_builds(place)


def test_environments_are_built_side_by_side(place: Workplace, source: Source) -> None:
    commit = source.commit(code="1")
    file = source.file()
    document = json.loads(file.read_text())
    document["environments"]["avx2"] = document["environments"]["default"] | {"env": {"A": "1"}}
    file.write_text(json.dumps(document))
    place.ok("engine", "build", file, "HEAD")
    place.ok("engine", "build", file, "HEAD", "--environment", "avx2")
    assert names_of_builds(place) == [f"fake@{commit[:12]}", f"fake@{commit[:12]}-avx2"]
    wrong = place.run("engine", "build", file, "HEAD", "--environment", "avx")
    assert wrong.code == 2
    assert "did you mean 'avx2'?" in wrong.err


def test_what_is_wrong_is_told(place: Workplace, source: Source) -> None:
    source.commit(code="1")
    unknown = place.run("engine", "build", source.file(), "nope")
    assert unknown.code == 2
    assert "no commit 'nope'" in unknown.err
    typo = place.run("engine", "build", source.file(polici={}), "HEAD")
    assert typo.code == 2
    assert "did you mean 'policy'?" in typo.err
    absent = place.run("engine", "build", source.file(["no-such-compiler"]), "HEAD")
    assert absent.code == 3
    assert "'no-such-compiler'" in absent.err
    schema = json.loads(place.ok("list", "repository-schema").out)
    assert schema["properties"]["schema"] == {"const": "assay/repository/1"}


def test_mercurial_that_is_not_installed_is_told(place: Workplace, source: Source) -> None:
    place.env["PATH"] = str(place.folder)
    file = source.file(repository={"url": str(source.folder), "kind": "hg"})
    finished = place.run("engine", "build", file, "HEAD")
    assert finished.code == 3
    assert "apt install mercurial" in finished.err


def make_synthetic(place: Workplace, *arguments: str) -> tuple[Path, Document]:
    """The folder of a synthetic repository, and what is known of it."""
    out = place.folder / "synthetic"
    command = [sys.executable, str(SYNTHETIC), str(out), *arguments]
    subprocess.run(command, check=True, capture_output=True)
    return out, json.loads((out / "expected.json").read_text())


def need_commands_of_builds() -> None:
    """Skips where the runner of commands knows no builds."""
    command = [BIN / "assay-runner-command", *("--name", "x", "--version", "1"), "--describe"]
    described = subprocess.run(command, capture_output=True, text=True, check=False)
    if described.returncode != 0 or '"x"' not in described.stdout:
        pytest.skip("assay-runner-command takes no --name here")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_the_synthetic_repository_is_built_and_compared(place: Workplace) -> None:
    need_commands_of_builds()
    out, expected = make_synthetic(place)
    commits = expected["commits"]
    step = next(i for i, one in enumerate(commits) if one["kind"] == "slower_5")
    before, after = commits[step - 1]["commit"], commits[step]["commit"]
    built = place.ok("engine", "build", out / "toy.json", before, after)
    assert "outputs differ from its parent's" in built.out
    a, b = f"toy@{before[:12]}", f"toy@{after[:12]}"
    quick = ("--launches", "3", "--iterations", "20", "--quiet", "--format", "json")
    for name in (a, b):
        measured = place.run("bench", out / "bench.command.json", "--engine", name, *quick)
        assert measured.code in (0, 6), measured
    keys = place.query("select distinct case_key from run_case")
    assert len(keys) == 1, "both builds run one case"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_builds_of_the_synthetic_repository_are_as_expected(place: Workplace) -> None:
    need_commands_of_builds()
    out, expected = make_synthetic(place)
    commits = expected["commits"]
    wanted = [i for i, one in enumerate(commits) if one["kind"] in ("broken", "undo", "rename")]
    chosen = sorted({i for place_of in wanted for i in (place_of - 1, place_of)})
    names = [commits[i]["commit"] for i in chosen]
    finished = place.run("engine", "build", out / "toy.json", *names, timeout_s=300)
    assert_as_expected(finished, [commits[i] for i in chosen])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("hg") is None, reason="Mercurial is not installed")
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_commits_of_mercurial_are_built(place: Workplace) -> None:
    need_commands_of_builds()
    out, expected = make_synthetic(place, "--kind", "hg", "--commits", "4", "--unchanged")
    first, *others = [one["commit"] for one in expected["commits"]]
    built = place.ok("engine", "build", out / "toy.json", first, f"{first}..HEAD")
    lines = built.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        f"toy@{commit[:12]}" for commit in (first, *others)
    ]
    assert all(f"same outputs as {first[:12]}" in line for line in lines[1:]), built


def assert_as_expected(finished: Finished, commits: list[Document]) -> None:
    """Each line says whether the commit was built, and whether its program is its parent's."""
    lines = finished.out.splitlines()
    assert len(lines) == len(commits), finished
    assert finished.code == 1, "one of them does not build"
    for before, commit, line in zip([None, *commits], commits, lines, strict=False):
        assert line.startswith(f"toy@{commit['commit'][:12]}"), line
        assert ("  failed: " in line) is (not commit["builds"]), line
        is_same = before is not None and commit["builds"] and before["builds"]
        if is_same and before["program"] == commit["program"]:
            assert "same outputs" in line, line
