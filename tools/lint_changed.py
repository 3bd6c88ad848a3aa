#!/usr/bin/env -S .venv/bin/python
"""Runs clang-tidy on what changed since it last passed, one process for each processor.

Without arguments it lints what build/release, which must be built, was compiled from, with every
check but the one of includes. Most of a run is parsing of headers, so the sources of a target that
have the same flags are linted as one unit; a name in an anonymous namespace is therefore unique
within its module. The check of includes looks at a source alone, so it takes the sources that the
latest commits and the working tree changed, with the compile commands of the preset lint; with
--all it takes every source. Tests are left out of it: they include what their module includes.
With file names it lints these sources alone, with every check.

A unit that passed is known by the content of all the project's files it was compiled from.
Usage: lint_changed.py [--all | FILE...]
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
ALONE = ROOT / "build" / "lint"
STAMPS = BUILD / "lint"
UNITS = STAMPS / "units"
INCLUDES = "misc-include-cleaner"
LATEST_COMMITS = 10
LINTED = re.compile(r"^(src|bench|studies|delegates|python/src)/.*\.cpp$")
# Sources for another processor are not compiled here.
NOT_LINTED = re.compile(r"_fuzz\.cpp$|/(aarch64|neon[a-z_]*|[a-z_]+_neon)\.cpp$")
TEST = re.compile(r"_test\.dir\b|_test\.cpp$")
# In a test a crash is a failure like any other, numbers are small, seeds are constant, time is
# cheap, and the macros of GoogleTest branch.
NOT_FOR_TESTS = (
    "bugprone-command-processor",
    "bugprone-float-loop-counter",
    "bugprone-implicit-widening-of-multiplication-result",
    "bugprone-narrowing-conversions",
    "bugprone-random-generator-seed",
    "bugprone-signed-char-misuse",
    "bugprone-throwing-static-initialization",
    "bugprone-unchecked-optional-access",
    "cppcoreguidelines-virtual-class-destructor",
    "performance-*",
    "readability-function-size",
    "readability-function-cognitive-complexity",
)


@dataclass(frozen=True)
class Job:
    """One run of clang-tidy."""

    source: Path
    commands: Path  # Folder of compile_commands.json.
    checks: str  # Added to those of .clang-tidy.
    stamp: Path  # Exists when it has passed.


def make_stamp(purpose: str, files: Iterable[Path]) -> Path:
    """The mark of a pass over these files."""
    digest = hashlib.sha256(purpose.encode() + (ROOT / ".clang-tidy").read_bytes())
    for file in sorted(set(files)):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return STAMPS / digest.hexdigest()


def is_ours(path: Path) -> bool:
    """True if a file is the project's own: not the system's, not of .venv."""
    return path.is_relative_to(ROOT) and ".venv" not in path.parts


def read_dependencies() -> dict[str, list[Path]]:
    """The project's files that each object was compiled from, as ninja has recorded them."""
    listing = subprocess.run(
        ["ninja", "-C", str(BUILD), "-t", "deps"], capture_output=True, text=True, check=True
    )
    found: dict[str, list[Path]] = {}
    target = ""
    for line in listing.stdout.splitlines():
        if line.startswith("    "):
            path = (BUILD / line.strip()).resolve()
            if is_ours(path) and path.exists():
                found[target].append(path)
        elif ": #deps" in line:
            target = line.split(":")[0]
            found[target] = []
    return found


def is_linted(source: Path) -> bool:
    """True if clang-tidy takes a compilation unit."""
    if not is_ours(source):
        return False
    path = str(source.relative_to(ROOT))
    return source.suffix == ".cxx" or bool(LINTED.match(path) and not NOT_LINTED.search(path))


def choose_checks(name: str, *left_out: str) -> str:
    """The checks of a source or an object as an addition to those of .clang-tidy."""
    tests = NOT_FOR_TESTS if TEST.search(name) else ()
    return ",".join(f"-{check}" for check in (*left_out, *tests))


@dataclass(frozen=True)
class Compilation:
    """One entry of compile_commands.json."""

    source: Path
    output: str
    command: str

    def with_source(self, source: Path) -> dict[str, str]:
        """The entry for another source with the same flags."""
        command = self.command.replace(str(self.source), str(source))
        return {"directory": str(BUILD), "file": str(source), "command": command}

    def unit(self) -> str:
        """Returns the key of its unit: target and flags if others may join it, else itself."""
        if self.source.suffix != ".cxx":
            return self.output
        flags = self.command.replace(str(self.source), "").replace(self.output, "")
        digest = hashlib.sha256(flags.encode()).hexdigest()[:8]
        return f"{self.output.split('/Unity/')[0]}-{digest}"


def read_united(source: Path) -> list[Path]:
    """The sources that a unit of CMake's unity build includes; none for any other source."""
    if source.suffix != ".cxx":
        return []
    return [Path(name) for name in re.findall(r'#include "(.*\.cpp)"', source.read_text())]


def read_compilations() -> list[Compilation]:
    """Lists what the build compiles and clang-tidy reads; a source of two targets counts once."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    found: dict[Path, Compilation] = {}
    for entry in entries:
        source = Path(entry["file"])
        if is_linted(source):
            found.setdefault(source, Compilation(source, entry["output"], entry["command"]))
    for united in [member for source in found for member in read_united(source)]:
        found.pop(united, None)
    return list(found.values())


def write_units(units: dict[str, list[Compilation]]) -> dict[str, Path]:
    """One source for each unit, with its compile command; their paths by unit."""
    UNITS.mkdir(parents=True, exist_ok=True)
    sources: dict[str, Path] = {}
    commands = []
    for unit, members in units.items():
        source = members[0].source
        if len(members) > 1:
            source = UNITS / f"{unit.replace('/', '_')}.cpp"
            skip = "// NOLINTNEXTLINE(bugprone-suspicious-include)"
            lines = (f'{skip}\n#include "{member.source}"\n' for member in members)
            source.write_text("".join(lines))
        sources[unit] = source
        commands.append(members[0].with_source(source))
    (UNITS / "compile_commands.json").write_text(json.dumps(commands))
    return sources


def plan_units() -> list[Job]:
    """Every unit, those of many files first; a source that the build leaves out is linted alone."""
    dependencies = read_dependencies()
    units: dict[str, list[Compilation]] = {}
    not_built: list[Path] = []
    for compilation in read_compilations():
        if compilation.output in dependencies:
            units.setdefault(compilation.unit(), []).append(compilation)
        else:
            not_built.append(compilation.source)
    sources = write_units(units)
    jobs = []
    for unit, members in sorted(units.items(), key=lambda item: -len(item[1])):
        files = {file for member in members for file in dependencies[member.output]}
        checks = choose_checks(unit, INCLUDES)
        stamp = make_stamp(f"unit {checks}", [*(member.source for member in members), *files])
        jobs.append(Job(sources[unit], UNITS, checks, stamp))
    return [*jobs, *plan_sources(not_built, f"-{INCLUDES}")]


def run_git(*arguments: str) -> str:
    """The output of a git command in the project's root."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def list_sources(*, everything: bool) -> list[Path]:
    """Sources but tests that the latest commits or the working tree changed, or all of them."""
    commits = int(run_git("rev-list", "--count", "HEAD"))
    base = f"HEAD~{min(LATEST_COMMITS, commits - 1)}"
    listing = ("ls-files",) if everything else ("diff", "--name-only", "--diff-filter=d", base)
    names = run_git(*listing).splitlines()
    linted = [name for name in names if LINTED.match(name) and not NOT_LINTED.search(name)]
    return [ROOT / name for name in linted if not TEST.search(name)]


def plan_sources(sources: Iterable[Path], checks: str) -> list[Job]:
    """Each source alone; its stamp covers all headers, for nothing records what it includes."""
    headers = [ROOT / name for name in run_git("ls-files", "*.h").splitlines()]
    headers = [header for header in headers if header.exists()]
    return [
        Job(source, ALONE, checks, make_stamp(f"alone {checks}", [source, *headers]))
        for source in sources
    ]


def lint(job: Job) -> str:
    """clang-tidy's complaint, empty if none."""
    tidy = Path(sys.executable).with_name("clang-tidy")
    checks = [f"--checks={job.checks}"] if job.checks else []
    command = [str(tidy), "--quiet", "-p", str(job.commands), *checks]
    result = subprocess.run(
        [*command, str(job.source)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if result.returncode == 0:
        job.stamp.touch()
        return ""
    return result.stdout + result.stderr


def plan(arguments: list[str]) -> list[Job]:
    """The jobs that the command line asks for."""
    if arguments and arguments != ["--all"]:
        sources = [Path(name).resolve() for name in arguments]
        return [job for one in sources for job in plan_sources([one], choose_checks(one.name))]
    changed = list_sources(everything=bool(arguments))
    return plan_units() + plan_sources(changed, f"-*,{INCLUDES}")


def count_processes() -> int:
    """As many as of tests; a run of clang-tidy takes no more memory than a process of tests."""
    command = [str(ROOT / "tools" / "count_processes.sh")]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Lints what changed; returns the exit code."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    jobs = plan(sys.argv[1:])
    todo = [job for job in jobs if not job.stamp.exists()]
    with ThreadPoolExecutor(max_workers=count_processes()) as pool:
        complaints = [complaint for complaint in pool.map(lint, todo) if complaint]
    for complaint in complaints:
        print(complaint)
    print(f"clang-tidy: {len(todo)} of {len(jobs)} linted, {len(complaints)} with faults")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
