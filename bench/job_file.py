"""Job files for runners: the wire's frames written and read in Python (src/assay/wire/frame.h)."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

MAGIC = 0x59415341
VERSION = 1
HEAD_BYTES = 32
TYPES = {
    "hello": 1,
    "spawn": 5,
    "load": 16,
    "infer": 17,
    "measure": 18,
    "profile": 19,
    "memory": 20,
    "reset_state": 21,
    "unload": 22,
    "stage": 32,
    "log": 33,
    "error": 34,
    "bye": 35,
}
NAMES = {number: name for name, number in TYPES.items()}


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli); a few MB a second, enough for job files."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def frame(kind: str, request: int, body: Any, blob: bytes = b"") -> bytes:
    """One frame."""
    text = json.dumps(body).encode()
    payload = text + blob
    sizes = (len(text), len(blob), crc32c(payload))
    head = struct.pack("<IHHIIQI", MAGIC, VERSION, TYPES[kind], request, *sizes)
    return head + struct.pack("<I", crc32c(head)) + payload


def write_job(path: Path, requests: list[tuple[str, Any]]) -> None:
    """Writes requests, numbered from 1, and a bye."""
    frames = [frame(kind, i + 1, body) for i, (kind, body) in enumerate(requests)]
    path.write_bytes(b"".join([*frames, frame("bye", len(requests) + 1, {})]))


def samples_of(out: Path) -> tuple[list[int], list[int], list[int]]:
    """Bind, execute and fetch of every iteration that a measured job wrote, warm-up first, ns."""
    blob = next(blob for kind, _, blob in read_frames(out) if kind == "measure")
    samples = list(struct.unpack(f"<{len(blob) // 8}q", blob))
    rows = len(samples) // 3
    return samples[:rows], samples[rows : 2 * rows], samples[2 * rows :]


def read_frames(path: Path) -> list[tuple[str, Any, bytes]]:
    """(type, body, blob) of every frame in a file; checksums are not checked."""
    return frames_in(path.read_bytes())


def frames_in(data: bytes) -> list[tuple[str, Any, bytes]]:
    """(type, body, blob) of every frame in the bytes; checksums are not checked."""
    at = 0
    frames = []
    while at + HEAD_BYTES <= len(data):
        _, _, kind, _, json_bytes, blob_bytes, _, _ = struct.unpack_from("<IHHIIQII", data, at)
        at += HEAD_BYTES
        body = json.loads(data[at : at + json_bytes] or b"null")
        blob = data[at + json_bytes : at + json_bytes + blob_bytes]
        at += json_bytes + blob_bytes
        frames.append((NAMES.get(kind, str(kind)), body, blob))
    return frames
