"""Figures that Arm's compiler Vela models of a program on an Ethos-U: nothing here was measured."""

import csv
import importlib
import importlib.metadata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.toolchain.temporary import TemporaryFolder

_BACKEND = "executorch.backends.arm.ethosu.backend"
_KIB = 1024
_FLASHES = ("on_chip_flash", "off_chip_flash")

Row = dict[str, str]
"""A row of Vela's summary, which it writes for each delegate."""


@contextmanager
def keep_summaries() -> Iterator[list[Row]]:
    """Collects Vela's summaries of the delegates that are compiled meanwhile.

    The backend lets Vela write them to a temporary folder and forgets them. The folder of its own
    option would become part of the program.
    """
    rows: list[Row] = []
    backend: Any = importlib.import_module(_BACKEND)
    compile_delegate = backend.vela_compile

    def compile_and_keep(*args: Any, **options: Any) -> Any:
        with TemporaryFolder("vela") as folder:
            result = compile_delegate(*args, **{**options, "intermediate_path": str(folder)})
            rows.append(_read_summary(folder / "output"))
        return result

    backend.vela_compile = compile_and_keep
    try:
        yield rows
    finally:
        backend.vela_compile = compile_delegate


def _read_summary(folder: Path) -> Row:
    (path,) = folder.glob("*_summary_*.csv")
    with path.open(newline="") as file:
        return next(csv.DictReader(file))


def describe_figures(target: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The manifest's `modelled`: of all delegates together, run one after the other.

    What the processor next to the Ethos-U computes is not in it. Memory is the most that one
    delegate uses, traffic and cycles are sums.
    """
    seconds = sum(float(row["inference_time"]) for row in rows)
    return {
        "by": f"vela {importlib.metadata.version('ethos-u-vela')}",
        "target": target,
        "system_config": rows[0]["system_config"],
        "memory_mode": rows[0]["memory_mode"],
        "core_clock_hz": float(rows[0]["core_clock"]),
        "delegates": len(rows),
        "cycles": sum(float(row["cycles_total"]) for row in rows),
        "inference_ns": seconds * 1e9,
        "inferences_per_s": 1 / seconds if seconds > 0 else None,
        "macs": sum(float(row["nn_macs"]) for row in rows),
        "sram_bytes": _most_memory(rows, ("sram",)),
        "dram_bytes": _most_memory(rows, ("dram",)),
        "flash_bytes": _most_memory(rows, _FLASHES),
        "sram_traffic_bytes": _traffic(rows, ("sram",)),
        "dram_traffic_bytes": _traffic(rows, ("dram",)),
        "flash_traffic_bytes": _traffic(rows, _FLASHES),
    }


def _most_memory(rows: Sequence[Row], areas: Sequence[str]) -> int:
    """The summary has KiB."""
    used = (sum(float(row[f"{area}_memory_used"]) for area in areas) for row in rows)
    return round(max(used) * _KIB)


def _traffic(rows: Sequence[Row], areas: Sequence[str]) -> int:
    return round(sum(float(row[f"{area}_total_bytes"]) for row in rows for area in areas))
