"""Connection strings of executors on PostgreSQL."""

import pytest

pytest.importorskip("procrastinate")
pytest.importorskip("psycopg")

from psycopg.conninfo import conninfo_to_dict

from assay.fleet.database import checked_dsn
from assay.fleet.lines import FleetError


def test_adds_what_notices_a_dead_connection_and_keeps_what_is_given() -> None:
    dsn = "postgresql://assay@db.lab/assay?tcp_user_timeout=100"
    settings = conninfo_to_dict(checked_dsn({"dsn": dsn}))
    assert settings["host"] == "db.lab"
    assert settings["keepalives_idle"] == "5"
    assert settings["tcp_user_timeout"] == "100"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({}, "must say where PostgreSQL is"),
        ({"dsn": "postgresql://assay:secret@db.lab/assay"}, "must not hold the password"),
        ({"dsn": "nonsense words"}, "dsn"),
    ],
)
def test_refuses_what_cannot_be_used(entry: dict[str, str], told: str) -> None:
    with pytest.raises(FleetError, match=told) as refused:
        checked_dsn(entry)
    assert refused.value.code == "invalid_argument"
    assert "secret" not in str(refused.value)
