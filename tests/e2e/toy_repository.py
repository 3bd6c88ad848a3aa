"""A repository with a benchmark that gets slower and faster, and what a watcher stores of it."""

import json
import sqlite3

from driver import Document, Finished, Workplace
from git_folder import GitFolder

# Prints times of its own, with a little noise, so that nothing here depends on the machine.
# It tells times without taking them: short ones, which fit into its life.
BENCH = """#!/usr/bin/awk -f
BEGIN {{
  "od -An -N4 -tu4 /dev/urandom" | getline seed
  srand(seed)
  base = {base}; conv = {conv}
  for (i = 0; i < ARGV[1]; ++i) {{
    noise = (1 + 0.004 * (rand() - 0.5)) / 10
    printf "op conv %.4f us\\nop relu %.4f us\\n", conv * noise, (base - conv) * noise
    printf "inference %.4f us\\n", base * noise
  }}
  exit {exit_code}
}}
"""

PROGRAM: Document = {
    "argv": ["{build:bench}", "{iterations}"],
    "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
    "time_pattern": "^inference ([0-9.]+) us",
    "time_unit": "us",
    "operator_pattern": "^op (?<name>\\w+) (?<time>[0-9.]+) us",
    "operator_unit": "us",
}

SPEC: Document = {
    "schema": "assay/spec/1",
    "models": ["bench.command.json"],
    "engines": ["toy"],
    "measure": {"warmup": 2, "iterations": 10, "passes": ["timing"]},
}


def repository_file(**policy: object) -> Document:
    build = [["cp", "{source}/bench", "{work}/bench"], ["grep", "-q", "BEGIN", "{work}/bench"]]
    return {
        "schema": "assay/repository/1",
        "repository": {"url": "source", "kind": "git"},
        "paths": {"include": ["bench"]},
        "engine": "toy",
        "environments": {"default": {"build": build, "outputs": {"bench": "bench"}}},
        "spec": "bench.spec.json",
        "policy": {
            **{"reference": "week", "min_effect": {"steady_floor_ns": "2%"}},
            "count_instructions": False,  # Takes seconds of CPU time.
            **policy,
        },
    }


class Source(GitFolder):
    """A repository whose benchmark gets slower and faster."""

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self.hashes: list[str] = []
        (place.folder / "toy.json").write_text(json.dumps(repository_file()))
        (place.folder / "bench.command.json").write_text(json.dumps(PROGRAM))
        (place.folder / "bench.spec.json").write_text(json.dumps(SPEC))

    def commit(
        self,
        subject: str,
        conv: float = 100,
        *,
        text: str = "",
        crashes: bool = False,
        date: str = "",
    ) -> str:
        """Commits a benchmark that takes `conv` us in its convolution and 100 us elsewhere."""
        path = self.folder / "bench"
        path.write_text(text or BENCH.format(base=100 + conv, conv=conv, exit_code=3 * crashes))
        path.chmod(0o755)
        self.git("add", "--all")
        environment = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        self.git("commit", "--quiet", "--allow-empty", "--message", subject, **environment)
        self.hashes.append(self.git("rev-parse", "HEAD"))
        return self.hashes[-1]

    def commit_docs(self, count: int) -> None:
        for i in range(count):
            (self.folder / "README").write_text(f"{len(self.hashes)} {i}\n")
            self.git("add", "--all")
            self.git("commit", "--quiet", "--message", f"docs: note {i}")
            self.hashes.append(self.git("rev-parse", "HEAD"))


def incidents(place: Workplace) -> list[Document]:
    with sqlite3.connect(place.store) as store:
        return [json.loads(row[0]) for row in store.execute("SELECT document FROM incident")]


def points(place: Workplace) -> list[tuple[str, str, float]]:
    with sqlite3.connect(place.store) as store:
        return store.execute(
            "SELECT series, revision, value FROM point ORDER BY series, revision"
        ).fetchall()


def launches(place: Workplace) -> int:
    with sqlite3.connect(place.store) as store:
        return int(store.execute("SELECT count(*) FROM launch").fetchone()[0])


def watch(place: Workplace, *arguments: str) -> Finished:
    finished = place.run("watch", "toy.json", "--once", *arguments)
    assert finished.code == 0, finished
    return finished


def seen_launches(place: Workplace) -> int:
    try:
        return launches(place)
    except sqlite3.OperationalError:
        return 0
