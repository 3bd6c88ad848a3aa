"""The device's end of adb's protocol: packets, and streams over one connection.

A packet is command, two arguments, length, checksum (unused since version 0x01000001) and magic,
each 32 bits in little-endian, then the payload. OPEN starts a stream, WRTE carries its bytes and is
answered with OKAY when they were taken, CLSE ends it. Source: protocol.txt in Android's adb.
"""

import contextlib
import os
import queue
import socket
import struct
import threading
from collections.abc import Callable

VERSION = 0x01000001
MAX_PAYLOAD = 1 << 20
HEAD = struct.Struct("<4s5I")
AUTH_TOKEN, AUTH_PUBLIC_KEY = 1, 3


class Stream:
    """One service's bytes. read() and write() may be called by different threads."""

    def __init__(self, connection: "Connection", local_id: int, remote_id: int) -> None:
        self._connection = connection
        self._ids = (local_id, remote_id)
        self._incoming: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._may_send = threading.Semaphore(1)
        self._rest = b""
        self.is_closed = False

    def read(self) -> bytes:
        """The next bytes; empty when the other end is closed."""
        data = self._incoming.get()
        if data and not self.is_closed:
            self._connection.send(b"OKAY", *self._ids)
        return data

    def read_exactly(self, size: int) -> bytes:
        """So many bytes; raises EOFError when the stream ends before."""
        while len(self._rest) < size:
            if not (data := self.read()):
                raise EOFError
            self._rest += data
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def write(self, data: bytes) -> None:
        """Sends bytes and waits until the packets before were taken."""
        for start in range(0, len(data), MAX_PAYLOAD):
            self._may_send.acquire()
            if self.is_closed:
                self._may_send.release()
                raise ConnectionError
            self._connection.send(b"WRTE", *self._ids, data[start : start + MAX_PAYLOAD])

    def close(self) -> None:
        """Ends the stream from here, when what was sent has been taken; does nothing twice."""
        if self.is_closed:
            return
        self._may_send.acquire()
        if not self.is_closed:
            self._connection.send(b"CLSE", *self._ids)
        self.end()

    def take(self, data: bytes) -> None:
        """Bytes that arrived."""
        self._incoming.put(data)

    def confirm(self) -> None:
        """The last packet was taken."""
        self._may_send.release()

    def end(self) -> None:
        """The stream is no more: wakes its readers and writers."""
        self.is_closed = True
        self._incoming.put(b"")
        self._may_send.release()


class Connection:
    """One adb server's connection; serve() returns when it ends."""

    def __init__(
        self,
        connection: socket.socket,
        banner: str,
        start_service: Callable[[str, Stream], None],
    ) -> None:
        self._socket = connection
        self._banner = banner.encode()
        self._start_service = start_service
        self._send_lock = threading.Lock()
        self._streams: dict[int, Stream] = {}
        self._last_id = 0
        self.is_accepted = True
        self.may_read = threading.Event()
        self.may_read.set()

    def send(self, command: bytes, first: int, second: int, payload: bytes = b"") -> None:
        """Sends a packet; what the other end no longer takes is lost."""
        magic = struct.unpack("<I", command)[0] ^ 0xFFFFFFFF
        head = HEAD.pack(command, first, second, len(payload), 0, magic)
        with self._send_lock, contextlib.suppress(OSError):
            self._socket.sendall(head + payload)

    def accept(self) -> None:
        """Tells the host that it may use this device."""
        self.is_accepted = True
        self.send(b"CNXN", VERSION, MAX_PAYLOAD, self._banner)

    def serve(self) -> None:
        """Answers packets until the connection ends."""
        try:
            while True:
                command, first, second, size, _, _ = HEAD.unpack(self._receive(HEAD.size))
                self._answer(command, first, second, self._receive(size))
        except (EOFError, OSError):
            pass
        finally:
            self.close()
            for stream in list(self._streams.values()):
                stream.end()

    def close(self) -> None:
        """Ends the connection at once."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            self.may_read.wait()
            if not (part := self._socket.recv(size - len(data))):
                raise EOFError
            data += part
        return bytes(data)

    def _answer(self, command: bytes, first: int, second: int, payload: bytes) -> None:
        if command == b"CNXN" and self.is_accepted:
            self.accept()
        elif command == b"CNXN" or (command == b"AUTH" and first != AUTH_PUBLIC_KEY):
            # A signature is never the right one; after the public key, people would be asked.
            self.send(b"AUTH", AUTH_TOKEN, 0, os.urandom(20))
        elif command == b"OPEN":
            self._open(first, payload.rstrip(b"\0").decode())
        elif (stream := self._streams.get(second)) is None:
            return
        elif command == b"WRTE":
            stream.take(payload)
        elif command == b"OKAY":
            stream.confirm()
        elif command == b"CLSE":
            del self._streams[second]
            stream.end()

    def _open(self, remote_id: int, service: str) -> None:
        self._last_id += 1
        stream = Stream(self, self._last_id, remote_id)
        self._streams[self._last_id] = stream
        self.send(b"OKAY", self._last_id, remote_id)
        self._start_service(service, stream)
