#!/usr/bin/env -S .venv/bin/python
"""Runs clang-tidy on what changed since it last passed, two at a time.

Without arguments it lints the compilation units of build/release, which must be built, with every
check but the one of includes: a unit parses its headers once for all its sources. The check of
includes looks at a source alone, so it takes the sources that the latest commits and the working
tree changed, with the compile commands of the preset lint.
With arguments it lints these sources alone, with every check.

A unit that passed is known by the content of all the project's files it was compiled from.
Usage: lint_changed.py [FILE...]
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
INCLUDES = "misc-include-cleaner"
LATEST_COMMITS = 10
LINTED = re.compile(r"^(src|bench|delegates)/.*\.cpp$")
# Tests are linted by nothing yet; sources for another processor are not compiled here.
NOT_LINTED = re.compile(r"_(test|fuzz)\.cpp$|/(aarch64|neon[a-z_]*)\.cpp$")


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
    """Whether a file is the project's own: not the system's, not of .venv."""
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


def is_linted(source: Path, output: str) -> bool:
    """Whether clang-tidy takes a compilation unit; tests are left out."""
    if not is_ours(source) or "_test.dir/" in output:
        return False
    path = str(source.relative_to(ROOT))
    return source.suffix == ".cxx" or bool(LINTED.match(path) and not NOT_LINTED.search(path))


def plan_units() -> list[Job]:
    """Every compilation unit, once; a source that the build leaves out is linted alone."""
    dependencies = read_dependencies()
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    jobs: dict[Path, Job] = {}
    not_built: list[Path] = []
    for entry in entries:
        source = Path(entry["file"])
        if not is_linted(source, entry["output"]):
            continue
        if entry["output"] not in dependencies:
            not_built.append(source)
            continue
        stamp = make_stamp("unit", [source, *dependencies[entry["output"]]])
        jobs.setdefault(source, Job(source, BUILD, f"-{INCLUDES}", stamp))
    return [*jobs.values(), *plan_sources(not_built, f"-{INCLUDES}")]


def run_git(*arguments: str) -> str:
    """The output of a git command in the project's root."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def list_changed() -> list[Path]:
    """Sources that the latest commits or the working tree changed."""
    commits = int(run_git("rev-list", "--count", "HEAD"))
    base = f"HEAD~{min(LATEST_COMMITS, commits - 1)}"
    names = run_git("diff", "--name-only", "--diff-filter=d", base).splitlines()
    return [ROOT / name for name in names if LINTED.match(name) and not NOT_LINTED.search(name)]


def plan_sources(sources: Iterable[Path], checks: str) -> list[Job]:
    """Each source alone; its stamp covers all headers, for nothing records what it includes."""
    headers = sorted((ROOT / "src").rglob("*.h"))
    return [
        Job(source, ALONE, checks, make_stamp(f"alone {checks}", [source, *headers]))
        for source in sources
    ]


def lint(job: Job) -> str:
    """clang-tidy's complaint, empty if none."""
    tidy = Path(sys.executable).with_name("clang-tidy")
    command = [str(tidy), "--quiet", "-p", str(job.commands), f"--checks={job.checks}"]
    result = subprocess.run(
        [*command, str(job.source)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if result.returncode == 0:
        job.stamp.touch()
        return ""
    return result.stdout + result.stderr


def main() -> int:
    """Lints what changed; returns the exit code."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:]:
        jobs = plan_sources([Path(name).resolve() for name in sys.argv[1:]], "")
    else:
        jobs = plan_units() + plan_sources(list_changed(), f"-*,{INCLUDES}")
    todo = [job for job in jobs if not job.stamp.exists()]
    with ThreadPoolExecutor(max_workers=2) as pool:
        complaints = [complaint for complaint in pool.map(lint, todo) if complaint]
    for complaint in complaints:
        print(complaint)
    print(f"clang-tidy: {len(todo)} of {len(jobs)} linted, {len(complaints)} with faults")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
