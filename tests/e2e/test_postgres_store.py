"""A store in PostgreSQL: the contract of every store, and the verbs over it."""

import os
import re
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


def collated_database(server: PostgresServer, collation: str) -> str:
    """A database that orders texts as ICU, as libc in a language, or by their bytes."""
    if collation == "icu":
        return server.fresh_database("LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'")
    if collation == "C":
        return server.fresh_database("LOCALE 'C'")
    names = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=True).stdout
    languages = [name for name in names.split() if name.lower().endswith(("utf8", "utf-8"))]
    languages = [name for name in languages if not name.startswith(("C.", "POSIX"))]
    if not languages:
        pytest.skip("this machine has no locale but C, such as en_US.UTF-8: locale-gen makes one")
    return server.fresh_database(f"LOCALE '{languages[0]}'")


@pytest.mark.parametrize(
    ("collation", "tests", "least"),
    [
        ("icu", "*Postgres*", 70),
        ("libc", "*StoresOfTwoKinds*Postgres*:*SchemaOfADatabase*Postgres*", 3),
        ("C", "*StoresOfTwoKinds*Postgres*:*SchemaOfADatabase*Postgres*", 3),
    ],
)
def test_the_contract_of_every_store_holds(
    postgres_server: PostgresServer, collation: str, tests: str, least: int
) -> None:
    finished = subprocess.run(
        [BIN / "assay_store_test", f"--gtest_filter={tests}"],
        env={
            **os.environ,
            "ASSAY_TEST_POSTGRES": collated_database(postgres_server, collation),
            # None of these tests ends the server: they need no sync of the disk.
            "PGOPTIONS": "-c synchronous_commit=off",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-5000:]
    passed = re.search(r"\[  PASSED  \] (\d+) tests", finished.stdout)
    assert passed is not None, finished.stdout[-5000:]
    assert int(passed[1]) >= least, "tests are missing"


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
        ("postgresql://assay@127.0.0.1:1/results", 3, ["another host and port"]),
        ("postgresql://127.0.0.1:port/results", 3, ["port"]),
    ]
    for address, code, parts in told:
        assert_told(place.run("runs", "--store", address), code, *parts)
    listed = place.run("runs", "--store", postgres_url)
    assert listed.code == 0
    assert "has no runs yet" in listed.err
    empty = place.run("report", "latest", "--store", postgres_url)
    assert_told(empty, 2, "it has no runs yet")


def test_a_database_that_cannot_hold_every_text_is_refused(
    place: Workplace, postgres_server: PostgresServer
) -> None:
    url = postgres_server.fresh_database("ENCODING 'LATIN1' LOCALE 'C'")
    refused = place.run("bench", place.program("net"), "--store", url, "--quiet")
    assert refused.code != 0
    assert "--encoding=UTF8" in refused.err


def test_a_user_may_do_what_was_granted(
    place: Workplace, postgres_server: PostgresServer, postgres_url: str
) -> None:
    def as_user(name: str) -> str:
        return postgres_url.replace("assay@", f"{name}@")

    told = bench(place, postgres_url)
    suffix = postgres_url.rsplit("_", 1)[1]
    reader, worker = f"reader_{suffix}", f"worker_{suffix}"
    absent = place.run("store", "grant", "reader", reader, "--store", postgres_url)
    assert_told(absent, 2, reader, "createuser")
    for user, role in ((reader, "reader"), (worker, "worker")):
        postgres_server.query(postgres_url, f"CREATE USER {user}")
        refused = place.run("runs", "--store", as_user(user))
        assert_told(refused, 3, "permission denied", "assay store grant")
        place.ok("store", "grant", role, user, "--store", postgres_url)

    assert report(place, as_user(reader)) == told
    refused = place.run("bench", place.program("net"), "--store", as_user(reader), "--quiet")
    assert_told(refused, 3, "permission denied")
    part = place.folder / "part.db"
    other = bench(place, part)
    assert_told(place.run("merge", part, "--store", as_user(reader)), 3, "permission denied")
    place.ok("merge", part, "--store", as_user(worker))
    assert bench(place, as_user(worker))["run"]["id"] != other["run"]["id"]
    removal = place.run("runs", "rm", told["run"]["id"], "--store", as_user(worker))
    assert_told(removal, 3, "permission denied")
    info = place.ok("store", "info", "--store", as_user(reader), "--format", "json").json()
    assert (info["runs"], info["unfinished_runs"]) == (3, 0)

    def may(right: str, table: str) -> bool:
        asked = f"SELECT has_table_privilege('{worker}', 'assay.{table}', '{right}')"
        return postgres_server.query(postgres_url, asked) == [["t"]]

    assert may("INSERT", "run")
    assert not may("UPDATE", "schema_version")
    place.ok("store", "grant", "reader", worker, "--store", postgres_url)
    postgres_server.query(postgres_url, "CREATE TABLE assay.of_a_later_version (id BIGINT)")
    assert may("SELECT", "of_a_later_version")
    assert not may("INSERT", "of_a_later_version")
    assert not may("INSERT", "run")


def test_an_exported_run_is_whole(place: Workplace, postgres_url: str) -> None:
    bench(place, postgres_url)
    told = bench(place, postgres_url)
    part = place.folder / "part.db"
    place.ok("store", "export", "latest", "--out", part, "--store", postgres_url)
    assert report(place, part) == told
    assert len(place.ok("runs", "--store", part, "--format", "json").json()["runs"]) == 1
    again = place.run("store", "export", "latest", "--out", part, "--store", postgres_url)
    assert_told(again, 2, "exists")
    freed = place.ok("store", "vacuum", "--store", postgres_url).out
    assert freed.startswith("the store takes")
