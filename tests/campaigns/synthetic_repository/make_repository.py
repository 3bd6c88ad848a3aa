"""Makes a repository with a known history, and writes down what a watcher should find in it.

    python tests/campaigns/synthetic_repository/make_repository.py OUT [--kind hg] [--seed 3]
        [--commits 64] [--unchanged | --only slower_2]

OUT then has the repository, a repository file, a command program, a spec and expected.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from engine import FIRST_BLOCKS
from history import LEAST_COMMITS, Change, changes
from keepers import Git, Keeper, Mercurial

START_UNIX_S = 1_767_571_200  # Monday, 2026-01-05.
BETWEEN_COMMITS_S = 6 * 3600

Document = dict[str, Any]


def write_sources(folder: Path, sources: dict[str, str]) -> None:
    """Makes the folder hold these files and no others; a file that is equal is not touched."""
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in sources and name.split("/")[0] not in (".git", ".hg"):
            path.unlink()
    for name, text in sources.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def program_digest(change: Change) -> str:
    """A digest of what the program does: equal for commits whose outputs are the same."""
    parts = [change.engine.blocks, change.engine.scales]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def add_side(keeper: Keeper, folder: Path, change: Change, unix_s: int) -> str:
    """Commits the side branch and its merge."""
    keeper.start_side()
    for i, one in enumerate(change.side):
        write_sources(folder, one.engine.sources())
        keeper.commit(one.subject, unix_s - BETWEEN_COMMITS_S // 2 + i)
    keeper.end_side()
    return keeper.merge_side(change.subject, unix_s)


def add_commit(keeper: Keeper, folder: Path, change: Change, unix_s: int) -> str:
    """Commits one change; its hash."""
    if change.side:
        return add_side(keeper, folder, change, unix_s)
    write_sources(folder, change.engine.sources())
    return keeper.commit(change.subject, unix_s)


def describe(change: Change, commit: str) -> Document:
    """Describes one commit."""
    return {
        "commit": commit,
        "kind": change.kind,
        "subject": change.subject,
        "builds": not change.engine.is_broken,
        "work": change.engine.work,
        "operator": change.operator,
        "share": change.share,
        "program": "" if change.engine.is_broken else program_digest(change),
    }


def incidents(commits: list[Document]) -> list[Document]:
    """Lists the incidents that a watcher should confirm."""
    found = []
    drift = [one for one in commits if one["kind"] == "drift"]
    for one in commits:
        if one["kind"] in ("slower_5", "slower_2", "back"):
            state = "fixed" if one["kind"] == "back" else "confirmed"
            found.append({"kind": "step", "metric": "steady_floor_ns", "state": state} | pick(one))
        if one["kind"] == "answer":
            found.append(
                {"kind": "step", "metric": "outputs_max_abs_error", "state": "confirmed"}
                | pick(one)
            )
    if drift:
        whole = sum(one["share"] for one in drift)
        first, last = drift[0]["commit"], drift[-1]["commit"]
        found.append(
            {"kind": "drift", "metric": "steady_floor_ns", "first": first, "last": last}
            | {"operator": "dense", "share": whole, "state": "confirmed"}
        )
    return found


def pick(commit: Document) -> Document:
    """The part of a commit that an incident names."""
    return {"culprit": commit["commit"], "operator": commit["operator"], "share": commit["share"]}


def repository_file(kind: str) -> Document:
    """The assay/repository/1 document, to stand next to the repository."""
    sources = [f"{{source}}/src/{name}.cpp" for name in ("main", "work", "operators")]
    compile_step = ["c++", "-std=c++20", "-O2", "-o", "{work}/toy", *sources]
    return {
        "schema": "assay/repository/1",
        "repository": {"url": "repository", "kind": kind},
        "paths": {"include": ["src"]},
        "engine": "toy",
        "environments": {
            "default": {
                "build": [compile_step],
                "outputs": {"bench": "toy"},
                "runner": "command",
                "timeout": "2min",
            }
        },
        "spec": "bench.spec.json",
        "policy": {"reference": "week", "min_effect": {"steady_floor_ns": "1%"}, "rounds": 5},
    }


COMMAND: Document = {
    "argv": [
        "{build:bench}",
        "--input",
        "{input:0}",
        "--output",
        "{output:0}",
        "--iterations",
        "{iterations}",
    ],
    "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 256]}],
    "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 256]}],
    "time_pattern": "^inference ([0-9.]+) ms",
    "operator_pattern": "^op (?<name>\\w+) (?<time>[0-9.]+) ms",
}

SPEC: Document = {
    "schema": "assay/spec/1",
    "models": [
        {"ref": "bench.command.json", "inputs": [[{"shape": [1, 256], "dtype": "float32"}]]}
    ],
    "evaluate": {"samples": 1},
    "engines": ["toy"],
    "measure": {"launches": 3, "warmup": 5, "iterations": 30, "passes": ["timing", "evaluate"]},
}


def make(out: Path, *, kind: str, seed: int, commits: int, only: str | None) -> Document:
    """Makes everything in a new folder; the content of expected.json."""
    folder = out / "repository"
    keeper: Keeper = Mercurial(folder) if kind == "hg" else Git(folder)
    described = []
    for number, change in enumerate(changes(commits, seed, only)):
        commit = add_commit(keeper, folder, change, START_UNIX_S + number * BETWEEN_COMMITS_S)
        described.append(describe(change, commit))
    expected = {
        "seed": seed,
        "first_work": sum(FIRST_BLOCKS.values()),
        "commits": described,
        "incidents": incidents(described),
    }
    documents = {"toy.json": repository_file(kind), "bench.command.json": COMMAND}
    for name, document in (
        documents | {"bench.spec.json": SPEC, "expected.json": expected}
    ).items():
        (out / name).write_text(json.dumps(document, indent=2) + "\n")
    return expected


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="New folder")
    parser.add_argument("--kind", choices=("git", "hg"), default="git")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commits", type=int, default=LEAST_COMMITS)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--unchanged",
        dest="only",
        action="store_const",
        const="",
        help="No commit changes the work",
    )
    which.add_argument(
        "--only", choices=("slower_5", "slower_2"), help="The one commit that changes the work"
    )
    parser.add_argument("--force", action="store_true", help="Replace the folder")
    options = parser.parse_args()
    if options.commits < LEAST_COMMITS and options.only is None:
        parser.error(f"a history with changes has at least {LEAST_COMMITS} commits")
    if options.force:
        shutil.rmtree(options.out, ignore_errors=True)
    expected = make(
        options.out.resolve(),
        **{"kind": options.kind, "seed": options.seed, "commits": options.commits},
        only=options.only,
    )
    counts = {name: len(expected[name]) for name in ("commits", "incidents")}
    print(f"{counts['commits']} commits, {counts['incidents']} incidents in {options.out}")


if __name__ == "__main__":
    main()
