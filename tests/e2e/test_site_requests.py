"""Drawn requests to `assay serve`: any method, address, parameter and bytes."""

import json
import socket
from collections.abc import Iterator

import pytest
from driver import FAST_MEASURE, Workplace
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from site_server import READ_TOKEN, Server, serving

QUIETLY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

PLACES = ["", "index", "runs/", "cases/", "models/", "history/", "assets/", "search.html"]
API = ["api/runs", "api/runs/", "api/cases/", "api/models/", "api/conformance", "api/comparisons"]
NAMES = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#?"), max_size=30
)
VALUES = st.one_of(st.integers().map(str), NAMES, st.just("%00"), st.just("1e9"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over one run."""
    place = Workplace(tmp_path_factory.mktemp("requests"))
    spec = place.spec(place.program("net"), measure=FAST_MEASURE)
    assert place.run("run", spec, "--quiet").code in (0, 1, 6)
    with serving(place) as running:
        yield running
    place.clean_up()


def is_alive(server: Server) -> bool:
    """True if the next reader gets a page."""
    return server.get("/").status == 200


@QUIETLY
@given(place=st.sampled_from(PLACES + API), name=NAMES, names=st.lists(st.tuples(NAMES, VALUES)))
def test_any_address_gets_an_answer_that_is_no_fault(
    server: Server, place: str, name: str, names: list[tuple[str, str]]
) -> None:
    query = "&".join(f"{key}={value}" for key, value in names)
    answer = server.get(f"/{place}{name}?{query}")
    assert answer.status in (200, 304, 400, 404), (place, name, query, answer)
    assert b"<script>" not in answer.body
    if place.startswith("api/"):
        document = json.loads(answer.body)
        assert document["schema"].startswith("assay/") or "openapi" in document


@QUIETLY
@given(limit=VALUES, offset=VALUES)
def test_parameters_are_numbers_or_refused(server: Server, limit: str, offset: str) -> None:
    answer = server.get(f"/api/runs?limit={limit}&offset={offset}")
    assert answer.status in (200, 400), answer


@QUIETLY
@given(body=st.binary(max_size=3000), starts_well=st.booleans())
def test_no_bytes_are_taken_for_a_store(server: Server, body: bytes, starts_well: bool) -> None:
    answer = server.post((b"SQLite format 3\0" if starts_well else b"") + body)
    assert answer.status == 400, answer


@QUIETLY
@given(head=st.binary(min_size=1, max_size=300))
def test_no_bytes_end_the_server(server: Server, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nAuthorization: Bearer {READ_TOKEN}\r\n".encode())
        connection.sendall(head + b"\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
    assert is_alive(server)
