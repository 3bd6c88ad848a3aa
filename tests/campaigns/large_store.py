"""Makes a store of many runs: copies of a few real ones at other times, with ids of their own.

    python tests/campaigns/large_store.py large.db --runs 10000 --launches 100

The runs are made by `assay run` with the fake engine: five models with two numbers of threads, ten
cases a run. Copies share cases, subjects and machines with the original, as runs of one nightly job
do. They have no digest of their launches, which a copy would not fit.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))
MODELS = 5
THREADS = (1, 2)
TEMPLATES = 8
STEP_NS = 600 * 10**9

# A copy's id: the original's with other leading digits. ":n" is the copy, ":shift" its time.
NEW = "printf('%08x', 0x10000000 + :n) || substr({}, 9)"


def columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    """Names of the columns of a table."""
    return [row[1] for row in connection.execute(f"pragma table_info({table})")]


def copy_of(connection: sqlite3.Connection, table: str, changed: dict[str, str], where: str) -> str:
    """A statement that copies rows of a table, with other values in some columns."""
    names = columns_of(connection, table)
    values = ", ".join(changed.get(name, name) for name in names)
    return f"insert into {table} ({', '.join(names)}) select {values} from {table} where {where}"


def statements(connection: sqlite3.Connection) -> list[str]:
    """Statements that copy run :run."""
    of_run = "attempt in (select id from attempt where run = :run)"
    of_launch = f"launch in (select id from launch where {of_run})"
    time = {
        name: f"{name} + :shift" for name in ("started_unix_ns", "finished_unix_ns", "order_ns")
    }
    return [
        copy_of(connection, "run", {"id": NEW.format("id"), **time}, "id = :run"),
        copy_of(connection, "run_case", {"run": NEW.format("run")}, "run = :run"),
        copy_of(
            connection,
            "attempt",
            {"id": NEW.format("id"), "run": NEW.format("run")},
            "run = :run",
        ),
        copy_of(
            connection,
            "launch",
            {"id": NEW.format("id"), "attempt": NEW.format("attempt"), "digest": "null"},
            of_run,
        ),
        copy_of(connection, "sample_block", {"launch": NEW.format("launch")}, of_launch),
        copy_of(connection, "metric", {"attempt": NEW.format("attempt")}, of_run),
        copy_of(
            connection,
            "attachment",
            {"owner": NEW.format("owner")},
            "owner in (select id from attempt where run = :run)",
        ),
    ]


def make_templates(store: Path, folder: Path, launches: int) -> None:
    """Measures the runs that are copied."""
    models = []
    for number in range(MODELS):
        program = folder / f"net{number}.fake.json"
        vector = {"dtype": "float32", "shape": [1, 4]}
        program.write_text(
            json.dumps(
                {"inputs": [vector], "outputs": [vector], "execute_ns": 20_000 * (number + 1)}
            )
        )
        models.append({"ref": str(program)})
    each = max(1, launches // (MODELS * len(THREADS)))
    spec = {
        "schema": "assay/spec/1",
        "models": models,
        "engines": ["fake"],
        "options": {"threads": list(THREADS)},
        "measure": {
            **{"launches": each, "warmup": 1, "iterations": 20, "time_budget": "2s"},
            "passes": ["timing"],
        },
    }
    file = folder / "night.json"
    file.write_text(json.dumps(spec))
    for number in range(TEMPLATES):
        command = [BIN / "assay", "run", file, "--quiet", "--store", store]
        labels = ["--label", f"commit={number:04x}", "--label", "branch=main"]
        ended = subprocess.run([*map(str, command), *labels], capture_output=True, text=True)
        if ended.returncode not in (0, 1, 6):
            raise SystemExit(ended.stderr)


def main() -> None:
    """Writes the store and tells what it holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--launches", type=int, default=100, help="of each run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_templates(options.store, Path(folder), options.launches)
    connection = sqlite3.connect(options.store)
    connection.executescript("pragma synchronous = off; pragma foreign_keys = off;")
    templates = [row[0] for row in connection.execute("select id from run order by order_ns")]
    copies = statements(connection)
    for n in range(options.runs - len(templates)):
        values = {
            "n": n,
            "shift": -(n + 1) * STEP_NS,
            "run": templates[n % len(templates)],
        }
        for statement in copies:
            connection.execute(statement, values)
        if n % 100 == 0:
            connection.commit()
    connection.commit()
    counts = [
        connection.execute(f"select count(*) from {table}").fetchone()[0]
        for table in ("run", "launch")
    ]
    print(f"{counts[0]} runs, {counts[1]} launches, {options.store.stat().st_size} bytes")


if __name__ == "__main__":
    main()
