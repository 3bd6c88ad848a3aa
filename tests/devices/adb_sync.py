"""The service `sync:` of adb: files of a device, pushed, pulled and listed."""

import os
import stat
import struct
from pathlib import Path

from adb_wire import Stream

REQUEST = struct.Struct("<4sI")
STAT_1 = struct.Struct("<4sIII")
STAT_2 = struct.Struct("<4sI2Q4IQ3q")
ENTRY = struct.Struct("<4s4I")
CHUNK_BYTES = 1 << 16


def serve_sync(root: Path, stream: Stream) -> None:
    """Answers requests until the host ends the stream; paths are those below `root`."""
    answers = {b"STAT": _stat_1, b"LIST": _list, b"RECV": _receive, b"SEND": _send}
    answers |= {b"STA2": _stat_2, b"LST2": _stat_2}
    while True:
        kind, size = REQUEST.unpack(stream.read_exactly(REQUEST.size))
        if kind == b"QUIT":
            return
        path = stream.read_exactly(size).decode()
        if kind not in answers:
            return _fail(stream, f"unknown command {kind!r}")
        answers[kind](root, path, kind, stream)


def _place(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _fail(stream: Stream, text: str) -> None:
    stream.write(REQUEST.pack(b"FAIL", len(text)) + text.encode())


def _look_at(file: Path, follows: bool) -> tuple[os.stat_result | None, int]:
    try:
        return (file.stat() if follows else file.lstat()), 0
    except OSError as error:
        return None, error.errno or 0


def _stat_1(root: Path, path: str, kind: bytes, stream: Stream) -> None:
    info, _ = _look_at(_place(root, path), follows=False)
    values = (info.st_mode, info.st_size & 0xFFFFFFFF, int(info.st_mtime)) if info else (0, 0, 0)
    stream.write(STAT_1.pack(kind, *values))


def _stat_2(root: Path, path: str, kind: bytes, stream: Stream) -> None:
    info, code = _look_at(_place(root, path), follows=kind == b"STA2")
    if info is None:
        return stream.write(STAT_2.pack(kind, code, *[0] * 10))
    whose = (info.st_mode, info.st_nlink, info.st_uid, info.st_gid)
    times = (int(info.st_atime), int(info.st_mtime), int(info.st_ctime))
    stream.write(STAT_2.pack(kind, 0, info.st_dev, info.st_ino, *whose, info.st_size, *times))


def _list(root: Path, path: str, _: bytes, stream: Stream) -> None:
    folder = _place(root, path)
    for entry in folder.iterdir() if folder.is_dir() else ():
        info, name = entry.lstat(), entry.name.encode()
        values = (info.st_mode, info.st_size & 0xFFFFFFFF, int(info.st_mtime), len(name))
        stream.write(ENTRY.pack(b"DENT", *values) + name)
    stream.write(ENTRY.pack(b"DONE", 0, 0, 0, 0))


def _receive(root: Path, path: str, _: bytes, stream: Stream) -> None:
    try:
        with _place(root, path).open("rb") as file:
            while data := file.read(CHUNK_BYTES):
                stream.write(REQUEST.pack(b"DATA", len(data)) + data)
    except OSError as error:
        return _fail(stream, f"open failed: {os.strerror(error.errno or 0)}")
    stream.write(REQUEST.pack(b"DONE", 0))


def _send(root: Path, path: str, _: bytes, stream: Stream) -> None:
    name, mode = path.rsplit(",", 1)
    file = _place(root, name)
    failure = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        failure = f"couldn't create file: {os.strerror(error.errno or 0)}"
    with os.fdopen(descriptor, "wb", buffering=0) as out:
        mtime_s, failure = _take_data(stream, out.fileno(), failure)
    if failure:
        return _fail(stream, failure)
    file.chmod(stat.S_IMODE(int(mode)))
    os.utime(file, (mtime_s, mtime_s))
    stream.write(REQUEST.pack(b"OKAY", 0))


def _take_data(stream: Stream, descriptor: int, failure: str) -> tuple[int, str]:
    """Writes the host's chunks, all of which it sends before it asks; its time, and what failed."""
    while True:
        kind, size = REQUEST.unpack(stream.read_exactly(REQUEST.size))
        if kind == b"DONE":
            return size, failure
        data = stream.read_exactly(size)
        while data and not failure:
            try:
                data = data[os.write(descriptor, data) :]
            except OSError as error:
                failure = f"write failed: {os.strerror(error.errno or 0)}"
