"""Times the pages of `assay serve` on a store, all of whose runs are in the index.

    python tests/campaigns/large_store.py large.db --runs 10000 --launches 100
    python tests/campaigns/site_pages.py large.db

Of each page the first request, and the median and the longest of some that follow it; then the
median of the processor time that they took, which other programs on the machine change little.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))


class Client:
    """Requests over one connection, as a browser's."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def get(self, path: str) -> bytes:
        """The body of a page."""
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:200]!r}")
        return body


def wait_for_index(client: Client) -> None:
    """Returns when all runs of the store can be shown."""
    began = time.monotonic()
    first = None
    while True:
        status = json.loads(client.get("/api/status"))
        first = status["indexed"] if first is None else first
        if status["runs"] and not status["pending"]:
            break
        time.sleep(1)
    seconds = time.monotonic() - began
    print(f"{status['indexed'] - first} runs read into the index in {seconds:.0f} s")


def pages_of(client: Client) -> dict[str, str]:
    """Addresses by what they show."""
    runs = client.get("/runs.html").decode()
    run = re.findall(r'href="(runs/[0-9a-f-]+\.html)"', runs)
    models = client.get("/models.html").decode()
    case = re.search(r"cases/[^\"/]+\.html", client.get("/" + run[0]).decode())
    label = re.search(r'value="(branch=[^"]+)"', runs)
    return {
        "front page": "/index.html",
        "runs": "/runs.html",
        "runs with a label": f"/runs.html?label={label[1] if label else ''}",
        "runs that failed": "/runs.html?failed=1",
        "a run": "/" + run[0],
        "two runs compared": f"/compare.html?a={run[0][5:-5]}&b={run[1][5:-5]}",
        "a case": f"/{case[0]}" if case else "/models.html",
        "models": "/models.html",
        "a model": "/" + re.findall(r'href="(models/[0-9a-f]+\.html)"', models)[0],
        "conformance": "/conformance.html",
        "comparisons": "/comparisons.html",
        "incidents": "/incidents.html",
        "devices": "/devices.html",
        "fleet": "/fleet.html",
        "search for two words": "/search.html?q=net0+main",
        "/api/runs": "/api/runs",
    }


class Processor:
    """Processor time of a server's threads, but for the one that keeps the index up to date."""

    def __init__(self, pid: int) -> None:
        self.tasks = Path(f"/proc/{pid}/task")
        before = self._by_thread()
        time.sleep(10)
        after = self._by_thread()
        self.keeper = max(after, key=lambda thread: after[thread] - before.get(thread, 0))

    def _by_thread(self) -> dict[str, int]:
        return {
            task.name: int((task / "schedstat").read_text().split()[0])
            for task in self.tasks.iterdir()
        }

    def milliseconds(self) -> float:
        """All until now."""
        return sum(ns for name, ns in self._by_thread().items() if name != self.keeper) / 1e6


class PageTimes:
    """Milliseconds of requests for one page, and its size."""

    def __init__(self, client: Client, processor: Processor, path: str, rounds: int) -> None:
        self.times = []
        self.used = []
        for _ in range(1 + rounds):
            began, used = time.perf_counter(), processor.milliseconds()
            self.size = len(client.get(path))
            self.times.append((time.perf_counter() - began) * 1e3)
            self.used.append(processor.milliseconds() - used)

    def row(self, title: str) -> str:
        """A row of a table."""
        first, *later = self.times
        return (
            f"| {title} | {first:.0f} | {statistics.median(later):.0f} | {max(later):.0f} "
            f"| {statistics.median(self.used[1:]):.0f} | {self.size / 1e3:.0f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    command = [BIN / "assay", "serve", "--port", "0", "--store", options.store]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(re.findall(r":(\d+)", server.stdout.readline())[-1])
            client = Client(port)
            wait_for_index(client)
            processor = Processor(server.pid)
            print("| page | first ms | median ms | most ms | processor ms | kB |")
            print("|---|---|---|---|---|---|")
            for title, path in pages_of(client).items():
                print(PageTimes(client, processor, path, options.rounds).row(title), flush=True)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
