"""Times a store of 100,000 launches in a file and in PostgreSQL, next to each other.

    python tests/campaigns/store_scale.py --runs 1000 --launches 100

large_store.py makes the runs; both stores then take them in by `assay merge`, and answer the same
commands in turn. The server is one of the tests' own, with fsync on.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from postgres import PostgresServer  # noqa: E402

BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))


def seconds_of(*arguments: str | Path) -> float:
    """Measures how long a command of Assay takes."""
    started = time.monotonic()
    subprocess.run([BIN / "assay", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def size_of(store: str | Path) -> str:
    """The first lines of `assay store info`."""
    command = [BIN / "assay", "store", "info", "--store", store]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return shown.splitlines()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--launches", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, PostgresServer.start() as server:
        large = Path(folder) / "large.db"
        script = ROOT / "tests" / "campaigns" / "large_store.py"
        counts = ["--runs", str(options.runs), "--launches", str(options.launches)]
        subprocess.run([sys.executable, script, large, *counts], check=True)
        stores = {"file": Path(folder) / "copy.db", "postgres": server.fresh_database()}
        for name, store in stores.items():
            print(f"{name}: merged in {seconds_of('merge', large, '--store', store):.1f} s")
            print(f"{name}: {size_of(store)}")
        commands = {
            "the newest 20 runs": ("runs", "--limit", "20"),
            "runs of a model": ("runs", "--model", "net", "--limit", "20"),
            "a report": ("report", "latest", "--format", "json"),
        }
        for title, command in commands.items():
            times: dict[str, list[float]] = {name: [] for name in stores}
            for _ in range(options.rounds):
                for name, store in stores.items():
                    times[name].append(seconds_of(*command, "--store", store))
            medians = {name: statistics.median(values) for name, values in times.items()}
            texts = [f"{name} {median * 1e3:.0f} ms" for name, median in medians.items()]
            print(f"{title}: {', '.join(texts)}")


if __name__ == "__main__":
    main()
