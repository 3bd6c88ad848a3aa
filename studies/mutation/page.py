"""Writes docs/results/mutation-score.md from what score.py found.

python studies/mutation/page.py FOLDER docs/results/mutation-score.md
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from fault_arithmetic import ARITHMETIC
from faults import INPUTS, OUTPUTS
from results import Result, results_of

GROUPS = ("outputs", "inputs", "arguments", "arithmetic")
NAMED = 6
"""Operators that a row names before it counts the rest."""

TEMPLATE = Path(__file__).with_suffix(".md")


def group_of(result: Result) -> str:
    """Class of the fault."""
    name = result.operator.split(".")[1]
    if result.fault in OUTPUTS:
        return "outputs"
    if result.fault in INPUTS:
        return "inputs"
    return "arithmetic" if result.fault in ARITHMETIC.get(name, {}) else "arguments"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def percent(part: int, whole: int) -> str:
    """Writes a share as "99.3 %", rounded down so that only all of them are 100 %."""
    return f"{int(1000 * part / whole) / 10:.1f} %" if whole else "none"


def row_of(name: str, results: Sequence[Result]) -> list[object]:
    """Mutants, those that change something, those found."""
    counted = [result for result in results if result.is_counted]
    found = sum(result.is_caught for result in counted)
    return [name, len(results), len(counted), found, percent(found, len(counted))]


def named(operators: Sequence[str]) -> str:
    """The first operators, and how many more."""
    words = [f"`{one}`" for one in operators[:NAMED]]
    more = len(operators) - NAMED
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")


def faults_table(results: Iterable[Result]) -> str:
    """Each fault with its operators, the commonest first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for result in results:
        groups[result.fault].append(result.operator.removeprefix("aten."))
    rows = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return table(
        ("fault", "operators", "which"),
        [(fault, len(operators), named(sorted(operators))) for fault, operators in rows],
    )


def summary_of(document: dict[str, Any], counted: Sequence[Result]) -> str:
    """The score in two sentences, and what it rests on."""
    found = sum(result.is_caught for result in counted)
    changed = sum(len(result.changed) for result in counted)
    seen = changed - sum(len(result.missed) for result in counted)
    operators = {mutant["operator"] for mutant in document["mutants"]}
    text = (
        f"{document['date']}, torch {document['torch']}: **{percent(found, len(counted))}**, "
        f"{found} of the {len(counted)} mutants that change anything, in {document['cases']} "
        f"cases of {len(operators)} operators and {document['launches']} launches. Case by case, "
        f"{seen} of {changed} changed answers did not pass ({percent(seen, changed)}). "
        f"{len(document['not_sound'])} cases do not pass without a fault either and were left out."
    )
    return textwrap.fill(text, 120)


def page_of(document: dict[str, Any]) -> str:
    """The page."""
    results = list(results_of(document))
    counted = [result for result in results if result.is_counted]
    groups = {name: [r for r in results if group_of(r) == name] for name in GROUPS}
    rows = [row_of(name, own) for name, own in groups.items()]
    head = ("faults of", "mutants", "change something", "found", "score")

    def unseen(*names: str) -> str:
        return faults_table(r for name in names for r in groups[name] if not r.is_counted)

    return TEMPLATE.read_text(encoding="utf-8").format(
        summary=summary_of(document, counted),
        groups=table(head, [*rows, row_of("all", results)]),
        missed=faults_table(result for result in counted if not result.is_caught),
        unseen_general=unseen("outputs", "inputs"),
        unseen_arguments=unseen("arguments"),
        unseen_arithmetic=unseen("arithmetic"),
    )


def write_page(path: Path, document: dict[str, Any]) -> None:
    """Writes the page of a document."""
    path.write_text(page_of(document), encoding="utf-8")


def today() -> str:
    """The date, UTC."""
    return f"{datetime.now(timezone.utc):%Y-%m-%d}"


if __name__ == "__main__":
    folder, target = map(Path, sys.argv[1:])
    write_page(target, json.loads((folder / "mutants.json").read_text()))
