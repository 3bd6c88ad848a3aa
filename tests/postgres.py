"""A PostgreSQL server of the tests' own, in a temporary folder, with fsync on.

    with PostgresServer.start() as server:
        url = server.fresh_database()

`initdb` refuses root: for root the server runs as the user of the package. As a pytest fixture:
`from postgres import postgres_server` in a conftest.py.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

USER = "assay"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "32MB",
    "max_connections": "200",
}


def find_postgres() -> Path | None:
    """The folder of the newest server's programs."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    if folders:
        return folders[-1]
    found = shutil.which("initdb")
    return None if found is None else Path(found).parent


def _version(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0


def _as_owner() -> list[str]:
    """Runs a command as a user that the server accepts."""
    if os.geteuid() != 0:
        return []
    owner = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class PostgresServer:
    """A server that can be killed and started again; it trusts this machine."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._data = folder / "data"
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._settings = dict(_SETTINGS)
        self.port = free_port()

    @classmethod
    @contextlib.contextmanager
    def start(cls, network: str = "") -> Iterator[PostgresServer]:
        """A running server; all of it is gone afterwards.

        `network`: "10.77.0.0/16", which it trusts as well.
        """
        programs = find_postgres()
        assert programs is not None, "no PostgreSQL: apt-get install postgresql"
        folder = Path(tempfile.mkdtemp(prefix="assay-postgres-"))
        folder.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        server = cls(programs, folder)
        try:
            server._make()
            if network:
                server._open_to(network)
            server.begin()
            yield server
        finally:
            server.kill()
            # Nobody waits for it: thousands of files that were synced take the disk half a minute.
            subprocess.Popen(["rm", "-rf", str(folder)], start_new_session=True)

    def _make(self) -> None:
        initdb = [str(self._programs / "initdb"), "--auth=trust", f"--username={USER}"]
        command = [*_as_owner(), *initdb, "--encoding=UTF8", "--no-sync"]
        command.append(f"--pgdata={self._data}")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def _open_to(self, network: str) -> None:
        with (self._data / "pg_hba.conf").open("a", encoding="utf-8") as rules:
            rules.write(f"host all all {network} trust\n")
        self._settings["listen_addresses"] = "*"

    def begin(self) -> None:
        """Starts the server on its port, and waits until it answers."""
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        command = [str(self._programs / "postgres"), "-D", str(self._data), f"--port={self.port}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_as_owner(), *command, *settings],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + 60
        while self._ask("postgres", "SELECT 1").returncode != 0:
            assert self._process.poll() is None, self._log.read_text(encoding="utf-8")
            assert time.monotonic() < end, self._log.read_text(encoding="utf-8")
            time.sleep(0.1)

    def kill(self) -> None:
        """Ends the server at once, as a power failure would."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def fresh_database(self, options: str = "") -> str:
        """The address of a new, empty database. `options`: of CREATE DATABASE."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        template = "TEMPLATE template0" if options else ""
        made = self._ask("postgres", f"CREATE DATABASE {name} {template} {options}")
        assert made.returncode == 0, made.stderr
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def query(self, url: str, sql: str) -> list[list[str]]:
        """Rows of a database as texts."""
        asked = self._ask(url.rsplit("/", 1)[1], sql)
        assert asked.returncode == 0, asked.stderr
        return [line.split("\t") for line in asked.stdout.splitlines()]

    def _ask(self, database: str, sql: str) -> subprocess.CompletedProcess[str]:
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", database]
        command = [str(self._programs / "psql"), *where, "-X", "-A", "-t", "-F", "\t", "-c", sql]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a process; in CI it must be there."""
    if find_postgres() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    with PostgresServer.start() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """The address of a database of the test's own."""
    return postgres_server.fresh_database()
