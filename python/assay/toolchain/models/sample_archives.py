"""Reads the sizes that an .npz claims before anything in it is unpacked."""

import math
import zipfile
import zlib
from pathlib import Path

import numpy as np

from assay.toolchain.errors import RequestError
from assay.toolchain.models.sample_folders import corrupt_inputs

MOST_BYTES = 16 << 30
"""Inputs of one file that are read at all, unpacked."""

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def check_archive(path: Path) -> None:
    """Refuses an archive that is damaged, or larger than what can be held.

    All arrays together may take MOST_BYTES, and half of the memory that is available.

    Raises:
        RequestError: it is no .npz, or unpacks to more.
        JobError: its table or the head of an array is damaged (reason corrupt_inputs).
    """
    most = min(MOST_BYTES, available_bytes() // 2)
    try:
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                raise ValueError("it is no archive")
        with zipfile.ZipFile(path) as archive:
            declared = sum(member.file_size for member in archive.infolist())
            if declared > most:
                raise RequestError(
                    f"{path} unpacks to {declared / 1e6:.0f} MB; at most {most / 1e6:.0f} MB are "
                    "read here: take fewer samples, or a .safetensors file of them"
                )
            for member in archive.infolist():
                _check_array(path, archive, member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise corrupt_inputs(path, f"{error}; write it anew with numpy.savez") from error
    except (OSError, ValueError) as error:
        raise RequestError(f"{path} is no .npz of plain arrays: {error}") from error


def _check_array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Holds the shape in an array's head against the bytes that are there for it."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            return  # numpy knows, or says that it does not.
        shape, _, dtype = _HEADERS[version](file)
        claimed = math.prod(shape) * dtype.itemsize
        there = member.file_size - file.tell()
    if not dtype.hasobject and claimed != there:
        why = f"'{member.filename}' claims {claimed} bytes and holds {there}"
        raise corrupt_inputs(path, f"{why}; write it anew with numpy.savez")


def available_bytes() -> int:
    """Memory that can be had without swapping; where the system does not tell, MOST_BYTES."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        (available,) = [line for line in lines if line.startswith("MemAvailable:")]
        return int(available.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return MOST_BYTES
