"""The device's end of a cable: adb servers connect to it, and it hands their requests on."""

import contextlib
import socket
import threading
from collections.abc import Callable

from adb_wire import Connection, Stream


class AdbDevice:
    """Listens between its making and close(); refuses everybody while is_plugged_in is false.

    make_banner: what it tells of itself. serve: called in a thread of its own for each stream
    that a host opens, with the name of the service that it wants.
    """

    def __init__(
        self, make_banner: Callable[[], str], serve: Callable[[str, Stream], None]
    ) -> None:
        self._make_banner = make_banner
        self._serve = serve
        self._connections: list[Connection] = []
        self.is_plugged_in = False
        self.is_unauthorized = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends all connections and listens no more."""
        # A closed socket would not wake the thread that accepts, and its number would be another's.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        self.drop()

    @property
    def is_connected(self) -> bool:
        """Whether somebody is connected, greeted or not."""
        return bool(self._connections)

    def drop(self) -> None:
        """Ends all connections."""
        for connection in list(self._connections):
            connection.may_read.set()
            connection.close()
        self._connections.clear()

    def go_silent(self, is_silent: bool) -> None:
        """Reads nothing more of what hosts send; or reads again."""
        for connection in self._connections:
            (connection.may_read.clear if is_silent else connection.may_read.set)()

    def trust(self) -> None:
        """Accepts the hosts that wait for it."""
        self.is_unauthorized = False
        for connection in self._connections:
            connection.accept()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self._listener.accept()
                if not self.is_plugged_in:
                    accepted.close()
                    continue
                connection = Connection(accepted, self._make_banner(), self._start_service)
                connection.is_accepted = not self.is_unauthorized
                self._connections.append(connection)
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: Connection) -> None:
        connection.serve()
        with contextlib.suppress(ValueError):
            self._connections.remove(connection)

    def _start_service(self, name: str, stream: Stream) -> None:
        threading.Thread(target=self._serve, args=(name, stream), daemon=True).start()
