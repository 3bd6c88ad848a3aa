"""`assay serve` and `assay site`: pages, documents, tokens, limits, added runs."""

import contextlib
import http.client
import json
import re
import socket
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

import pytest
from driver import Workplace, wait_until
from site_server import ADD_TOKEN, READ_TOKEN, Server, serving

ONCE = ["--launches", "1", "--iterations", "3", "--warmup", "1", "--quiet", "--format", "json"]


def bench(place: Workplace, name: str, *flags: str | Path) -> str:
    """A short run of a fake program; its id."""
    finished = place.run("bench", place.program(name), *ONCE, *flags)
    assert finished.code in (0, 1, 6), finished
    return finished.json()["run"]["id"]


def part_of(place: Workplace, name: str) -> tuple[str, bytes]:
    """A run in a store of its own, and that store."""
    file = place.folder / f"{name}.db"
    run = bench(place, name, "--store", file)
    return run, file.read_bytes()


def links_of(html: str) -> list[str]:
    """Targets of the links of a page, without what is in its data."""
    return [link for link in re.findall(r' (?:href|src)="([^"]*)"', html) if ":" not in link]


def test_every_page_that_a_link_leads_to_is_there(place: Workplace) -> None:
    runs = [bench(place, "net"), bench(place, "net"), bench(place, "other")]
    with serving(place) as server:
        known = {"/index.html"}
        left = ["/index.html"]
        while left:
            path = left.pop()
            answer = server.get(path)
            assert answer.status == 200, (path, answer)
            if not path.endswith(".html"):
                continue
            for link in links_of(answer.text):
                folder = path.rpartition("/")[0]
                while link.startswith("../"):
                    link, folder = link.removeprefix("../"), folder.rpartition("/")[0]
                target = f"{folder}/{link.partition('#')[0].partition('?')[0]}"
                if target != f"{folder}/" and target not in known:
                    known.add(target)
                    left.append(target)
        for run in runs:
            assert f"/runs/{run}.html" in known
        assert sum(path.startswith("/cases/") for path in known) == 2
        assert sum(path.startswith("/models/") for path in known) == 2


def test_documents_are_those_of_the_command_line(place: Workplace) -> None:
    run = bench(place, "net")
    with serving(place) as server:
        listed = json.loads(server.get("/api/runs").body)
        assert listed["runs"] == place.ok("runs", "--format", "json").json()["runs"]
        assert json.loads(server.get(f"/api/runs/{run}/report").body) == place.report(run)
        assert json.loads(server.get("/api/status").body)["pending"] == 0


def test_a_new_run_is_shown_while_the_server_runs(place: Workplace) -> None:
    with serving(place) as server:
        assert "no run yet" in server.get("/").text
        run = bench(place, "net")
        wait_until(lambda: run in server.get("/").text)
        place.ok("runs", "rm", run)
        wait_until(lambda: run not in server.get("/").text)


@pytest.fixture
def store_with_run(place: Workplace) -> Workplace:
    bench(place, "net")
    return place


def test_tokens_have_one_right_each(store_with_run: Workplace) -> None:
    with serving(store_with_run) as server:
        for path in ("/", "/api/runs", "/assets/site.css", "/nothing"):
            assert server.request("GET", path).status == 401, path
            assert server.get(path, "wrong-wrong-wrong-wrong").status == 401, path
            assert server.get(path, ADD_TOKEN).status == 403, path
        assert server.get("/").status == 200
        assert server.post(b"x", READ_TOKEN).status == 403
        assert server.request("POST", "/api/runs", b"x").status == 401


def test_only_what_is_of_the_store_can_be_read(store_with_run: Workplace) -> None:
    outside = [
        *("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/assets/../x"),
        *("/runs/..%2f..%2fassay.db.html", "/runs/%00.html", "/assay.db", "/assets/"),
        *("/runs/.html", "/cases/x.html", "/runs-0.html", "/api/runs/x/report", "/api"),
    ]
    with serving(store_with_run, tokens=False) as server:
        for path in outside:
            assert server.request("GET", path).status == 404, path
        assert server.request("GET", "/", Host="evil.example").status == 403
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
            assert server.request(method, "/api/runs").status == 405, method
        assert server.request("POST", "/api/runs", b"x").status == 403


def test_beyond_this_machine_a_token_is_needed(place: Workplace) -> None:
    refused = place.run("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 2, refused
    assert "token" in refused.err
    place.env["ASSAY_SITE_READ_TOKEN"] = "short"
    assert "16 characters" in place.run("serve", "--port", "0").err


def test_parts_are_added_once(place: Workplace) -> None:
    run, part = part_of(place, "net")
    with serving(place) as server:
        first = server.post(part)
        assert first.status == 200, first
        assert json.loads(first.body)["rows"] > 0
        assert json.loads(server.post(part).body)["rows"] == 0
        wait_until(lambda: run in server.get("/").text)
    assert place.ok("runs", "show", run).out


def test_pages_are_read_while_parts_wait_for_the_store(place: Workplace) -> None:
    bench(place, "net")
    _, part = part_of(place, "other")
    more_than_threads = 5
    with (
        serving(place) as server,
        contextlib.closing(sqlite3.connect(place.home / "assay.db", isolation_level=None)) as other,
        ThreadPoolExecutor(more_than_threads) as clients,
    ):
        other.execute("begin immediate")
        sent = [clients.submit(server.post, part) for _ in range(more_than_threads)]
        for _ in range(20):  # The parts arrive meanwhile.
            assert server.get("/api/runs").status == 200
            time.sleep(0.1)
        assert not any(one.done() for one in sent)
        other.execute("rollback")
        assert {one.result().status for one in sent} == {200}


def test_bad_parts_change_nothing(place: Workplace) -> None:
    bench(place, "net")
    before = place.query("select id from run")
    _, part = part_of(place, "other")
    torn = part[: len(part) // 2]
    damaged = bytearray(part)
    for at in range(4096, len(part) - 64, 4096):
        damaged[at : at + 64] = b"x" * 64
    with serving(place) as server:
        for body in (b"", b"no store", b"SQLite format 3\0", torn, bytes(damaged)):
            answer = server.post(body)
            assert answer.status == 400, (body[:20], answer)
            assert json.loads(answer.body)["schema"] == "assay/error/1"
    assert place.query("select id from run") == before


def test_a_part_with_a_trigger_is_refused(place: Workplace) -> None:
    file = place.folder / "part.db"
    bench(place, "net", "--store", file)
    with sqlite3.connect(file) as connection:
        connection.execute("create trigger t after insert on run begin select 1; end")
    connection.close()
    with serving(place) as server:
        answer = server.post(file.read_bytes())
        assert answer.status == 400
        assert "triggers" in answer.text


def test_large_parts_and_heads_are_refused(place: Workplace) -> None:
    with serving(place, "--max-part", "100kB") as server:
        assert server.post(b"x" * 100_001).status == 413
        assert server.request("GET", "/", X_Long="x" * 20_000).status == 431
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.putrequest("POST", "/api/runs")
        connection.putheader("Authorization", f"Bearer {ADD_TOKEN}")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders(b"1\r\nx\r\n0\r\n\r\n")
        assert connection.getresponse().status == 411
        connection.close()


def test_silent_connections_hold_nobody_up(place: Workplace) -> None:
    with serving(place) as server:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        assert server.get("/").status == 200
        more = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(30)]
        assert server.get("/").status == 503
        for connection in silent + more:
            connection.close()
        wait_until(lambda: server.get("/").status == 200)


def test_a_static_site_holds_all_pages(place: Workplace) -> None:
    run = bench(place, "net")
    folder = place.folder / "pages"
    written = place.ok("site", folder)
    assert "1 runs" in written.out
    assert "reading: 1 run" in written.err, written
    for page in folder.rglob("*.html"):
        for link in links_of(page.read_text(encoding="utf-8")):
            target = page.parent / unquote(link.partition("#")[0].partition("?")[0])
            assert target.exists(), (page, link)
    assert (folder / "runs" / f"{run}.html").exists()
    (folder / "runs" / "old.html").write_text("old", encoding="utf-8")
    assert place.ok("site", folder, "-q").err == ""
    assert not (folder / "runs" / "old.html").exists()


def test_a_static_site_replaces_no_other_folder(store_with_run: Workplace) -> None:
    folder = store_with_run.folder / "mine"
    folder.mkdir()
    (folder / "index.html").write_text("mine", encoding="utf-8")
    refused = store_with_run.run("site", folder)
    assert refused.code == 2, refused
    assert (folder / "index.html").read_text(encoding="utf-8") == "mine"


def test_curl_sends_a_part_as_the_guide_says(place: Workplace) -> None:
    run, _ = part_of(place, "net")
    with serving(place) as server:
        command = [
            *("curl", "--silent", "--fail", "-H", f"Authorization: Bearer {ADD_TOKEN}"),
            *("--data-binary", f"@{place.folder / 'net.db'}"),
            f"http://localhost:{server.port}/api/runs",
        ]
        sent = subprocess.run(command, capture_output=True, check=False, text=True)
        assert sent.returncode == 0, sent
        assert run in place.ok("runs", "--format", "json").out


def test_the_server_needs_no_vega_and_no_store(place: Workplace) -> None:
    place.env["ASSAY_DATA_DIR"] = str(place.folder)
    with serving(place) as server:
        assert isinstance(server, Server)
        assert server.get("/assets/vega.js").status == 404
        assert server.get("/incidents.html").status == 200
