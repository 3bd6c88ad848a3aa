"""Services of a device that run commands: `shell,v2`, `shell` and `exec` of adb."""

import contextlib
import os
import signal
import struct
import subprocess
import threading
from typing import IO

from adb_wire import Stream
from namespaces import list_children

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
PACKET = struct.Struct("<BI")


def run_raw(process: subprocess.Popen[bytes], stream: Stream) -> None:
    """Bytes of the stream to the process, and its output back, without frames."""
    threading.Thread(target=_feed_raw, args=(process, stream), daemon=True).start()
    assert process.stdout is not None
    with contextlib.suppress(ConnectionError, OSError):
        while data := os.read(process.stdout.fileno(), 1 << 16):
            stream.write(data)
    process.stdout.close()
    process.wait()


def run_framed(process: subprocess.Popen[bytes], stream: Stream) -> None:
    """The shell protocol: stdin, stdout, stderr and the exit code in packets of their own."""
    lock = threading.Lock()
    pumps = [
        threading.Thread(target=_pump, args=(pipe, kind, stream, lock), daemon=True)
        for pipe, kind in ((process.stdout, STDOUT), (process.stderr, STDERR))
    ]
    for thread in (*pumps, threading.Thread(target=_feed, args=(process, stream), daemon=True)):
        thread.start()
    for pump in pumps:
        pump.join()
    code = process.wait()
    with contextlib.suppress(ConnectionError):
        stream.write(PACKET.pack(EXIT, 1) + bytes([code if code >= 0 else 128 - code]))


def _pump(pipe: IO[bytes] | None, kind: int, stream: Stream, lock: "threading.Lock") -> None:
    assert pipe is not None
    with pipe, contextlib.suppress(ConnectionError):
        while data := os.read(pipe.fileno(), 1 << 16):
            with lock:
                stream.write(PACKET.pack(kind, len(data)) + data)


def _feed(process: subprocess.Popen[bytes], stream: Stream) -> None:
    """Gives the process what the host types, until the stream ends."""
    assert process.stdin is not None
    with contextlib.suppress(EOFError):
        while True:
            kind, size = PACKET.unpack(stream.read_exactly(PACKET.size))
            data = stream.read_exactly(size)
            with contextlib.suppress(OSError, ValueError):
                if kind == STDIN:
                    process.stdin.write(data)
                    process.stdin.flush()
                elif kind == CLOSE_STDIN:
                    process.stdin.close()
    _hang_up(process)


def _feed_raw(process: subprocess.Popen[bytes], stream: Stream) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        while data := stream.read():
            process.stdin.write(data)
            process.stdin.flush()
    _hang_up(process)


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    """Sends SIGHUP and ends the input, as adbd does to a command whose stream is gone."""
    for child in list_children(process.pid):
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGHUP)
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
