"""A store in PostgreSQL: the contract of every store, and the verbs over it."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from driver import BIN, FAST_MEASURE, Document, Workplace, assert_told, wait_for_end, wait_until
from postgres import PostgresServer, postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

pytestmark = pytest.mark.slow


def without_store(report: Document) -> Document:
    """A report without the command lines that name the store that it was read from."""
    return {name: value for name, value in report.items() if name != "reproduce"}


def report(place: Workplace, store: str | Path) -> Document:
    return without_store(place.ok("report", "latest", "--store", store, "--format", "json").json())


def bench(place: Workplace, store: str | Path, *flags: Any) -> Document:
    measure = ["--launches", "2", "--iterations", "5", "--warmup", "1", "--quiet"]
    finished = place.run(
        *("bench", place.program("net"), "--store", store, "--format", "json"), *measure, *flags
    )
    assert finished.code in (0, 6), finished
    return without_store(finished.json())


def test_the_contract_of_every_store_holds(postgres_url: str) -> None:
    finished = subprocess.run(
        [BIN / "assay_store_test", "--gtest_filter=*Postgres*"],
        env={**os.environ, "ASSAY_TEST_POSTGRES": postgres_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-5000:]
    assert "[  PASSED  ] 4" in finished.stdout, "no test ran"


def test_a_run_is_the_same_in_a_database_and_in_files(place: Workplace, postgres_url: str) -> None:
    told = bench(place, postgres_url, "--label", "commit=abc")
    assert report(place, postgres_url) == told

    listed = place.ok("runs", "--label", "commit=abc", "--store", postgres_url).out
    assert told["run"]["id"][:13] in listed
    part = place.folder / "part.db"
    place.ok("merge", postgres_url, "--store", part)
    assert report(place, part) == told
    place.ok("runs", "rm", "latest", "--store", postgres_url)
    assert place.run("report", "latest", "--store", postgres_url).code != 0
    place.ok("merge", part, "--store", postgres_url)
    assert report(place, postgres_url) == told
    assert "0 rows copied" in place.ok("merge", part, "--store", postgres_url).out


def test_a_run_outlives_a_server_that_is_killed(
    place: Workplace, postgres_server: PostgresServer
) -> None:
    url = postgres_server.fresh_database()
    slow = place.program("slow", execute_ns=20_000_000)
    measure = {**FAST_MEASURE, "launches": 30}
    process = place.start("run", place.spec(slow, measure=measure), "--quiet", "--store", url)
    count = "SELECT count(*) FROM assay.launch"
    wait_until(
        lambda: (
            bool(postgres_server.query(url, "SELECT to_regclass('assay.launch')")[0][0])
            and int(postgres_server.query(url, count)[0][0]) > 3
        )
    )
    postgres_server.kill()
    postgres_server.begin()
    finished = wait_for_end(process)
    assert finished.code in (0, 6), finished
    assert "trying again" in finished.err
    assert postgres_server.query(url, count) == [["30"]]
    indices = "SELECT count(DISTINCT launch_index) FROM assay.launch"
    assert postgres_server.query(url, indices) == [["30"]]


def test_a_mistake_in_an_address_is_told(place: Workplace, postgres_url: str) -> None:
    told = [
        (postgres_url.replace("assay@", "assay:secret@"), 2, ["PGPASSWORD", "~/.pgpass"]),
        (postgres_url + "_absent", 3, ["does not exist", "createdb"]),
        ("postgresql://assay@127.0.0.1:1/results", 3, ["is the server running"]),
        ("postgresql://127.0.0.1:port/results", 3, ["port"]),
    ]
    for address, code, parts in told:
        assert_told(place.run("runs", "--store", address), code, *parts)
    empty = place.run("report", "latest", "--store", postgres_url)
    assert_told(empty, 2, "it has no runs yet")
