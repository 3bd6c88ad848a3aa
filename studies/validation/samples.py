"""Reads what record.py wrote: launches of a cell, joined to pairs and blocks."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Launch = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One workload in one state with one effect; pairs in the order they were launched."""

    workload: str
    state: str
    effect: float
    answers: list[dict[str, Any]]
    comparisons: list[list[tuple[Launch, Launch]]]

    @property
    def pairs(self) -> list[tuple[Launch, Launch]]:
        """(A, B) of all comparisons."""
        return [pair for pairs in self.comparisons for pair in pairs]

    @property
    def pair_s(self) -> float:
        """Seconds that a pair took, its share of the canary included."""
        wall_ns = sum(answer["wall_ns"] for answer in self.answers)
        return wall_ns / 1e9 / len(self.pairs)


def read_launches(folder: Path, cell: str) -> list[Launch]:
    """Every launch of a cell with its samples."""
    return [json.loads(line) for line in (folder / "raw" / f"{cell}.jsonl").open()]


def _pairs_of(launches: list[Launch]) -> list[tuple[Launch, Launch]]:
    places: dict[int, dict[str, Launch]] = defaultdict(dict)
    for launch in launches:
        if not launch["is_replaced"]:
            places[launch["pair"]][launch["side"]] = launch
    whole = (sides for _, sides in sorted(places.items()) if {"a", "b"} <= sides.keys())
    return [(sides["a"], sides["b"]) for sides in whole]


def read_cells(folder: Path) -> list[Cell]:
    """All cells of comparisons."""
    recording = json.loads((folder / "recording.json").read_text())
    cells = []
    for name, content in recording["cells"].items():
        if "answers" not in content:
            continue
        comparisons: dict[str, list[Launch]] = defaultdict(list)
        for launch in read_launches(folder, name):
            comparisons[launch["comparison"]].append(launch)
        cells.append(
            Cell(
                content["workload"],
                content["state"],
                content["effect"],
                content["answers"],
                [_pairs_of(launches) for launches in comparisons.values()],
            )
        )
    return cells


def write_pools(cells: list[Cell], machine: dict[str, Any], path: Path) -> None:
    """The floors of all pairs by block, as pool.h reads them."""
    document: dict[str, Any] = {
        "schema": "assay/validation-pools/1",
        "machine": machine,
        "cells": [],
    }
    for cell in cells:
        blocks = []
        for pairs in cell.comparisons:
            for first, second in zip(pairs[::2], pairs[1::2], strict=False):
                blocks.append([side["floor_ns"] for pair in (first, second) for side in pair])
        document["cells"].append(
            {
                "workload": cell.workload,
                "state": cell.state,
                "effect": cell.effect,
                "pair_s": round(cell.pair_s, 4),
                "floors_ns": blocks,
            }
        )
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in document.pop("cells"))
    head = json.dumps(document)[:-1]
    path.write_text(f'{head}, "cells": [\n{lines}\n]}}\n')


def write_bare_pool(recording: dict[str, Any], path: Path) -> None:
    """The pairs of the bare loop and Assay's runner, in the same form."""
    cells = []
    for name, content in recording["cells"].items():
        if name.startswith("bare "):
            pairs = content["pairs_ns"]
            blocks = [
                [*first, *second] for first, second in zip(pairs[::2], pairs[1::2], strict=True)
            ]
            cells.append(
                {"workload": "bare", "state": content["state"], "effect": 0, "floors_ns": blocks}
            )
    path.write_text(json.dumps({"schema": "assay/validation-pools/1", "cells": cells}))
