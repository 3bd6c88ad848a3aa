"""Writes docs/results/conformance-arguments.md: `python -m assay.conformance.argument_table`.

Each operator with each of its arguments, and the case that shows a backend which ignores it.
"""

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from assay.conformance.argument_faults import (
    UNCHANGED,
    Fault,
    arguments_of,
    by_operator,
    find_exception,
)
from assay.conformance.case import operator_case
from assay.conformance.listing import operator_cases
from assay.conformance.recorded_calls import RecordedCall, read_calls

PAGE = Path(__file__).parents[3] / "docs" / "results" / "conformance-arguments.md"

_TITLE = "# Arguments that the conformance cases show"
_TEXT = (
    "Each fault replaces an argument of an operator by a constant (its default among them), or "
    "answers with an input unchanged. A case shows a fault if eager's answer with it is out of the "
    "case's bounds. `python -m assay.conformance.record` finds the cases and fails where a fault "
    "has none and no reason; `python -m assay.conformance.argument_table` writes this page."
)
_WIDTH = 120


def make_page(rows: Sequence[RecordedCall]) -> str:
    """The page as Markdown."""
    quick = {case.name for case in operator_cases() if case.tier == "quick"}
    lines, shown, in_quick = [], 0, 0
    for operator, some in by_operator(rows):
        for argument in [UNCHANGED, *(one.name for one in arguments_of(operator))]:
            cells = _cells(operator, argument, some, quick)
            shown += bool(cells[0])
            in_quick += bool(cells[1])
            lines.append(
                f"| `{operator.removeprefix('aten.')}` | {argument} | {' | '.join(cells)} |"
            )
    counts = (
        f"A case of the full tier shows {shown} of {len(lines)} pairs of an operator and an "
        f"argument, a case of the quick tier {in_quick}. The others say why not."
    )
    text = [textwrap.fill(one, _WIDTH) for one in (_TEXT, counts)]
    head = "| operator | argument | full tier | quick tier | why not |\n"
    head += "| --- | --- | --- | --- | --- |\n"
    return "\n\n".join([_TITLE, *text, head]) + "\n".join(lines) + "\n"


def _cells(
    operator: str, argument: str, rows: Sequence[RecordedCall], quick: set[str]
) -> tuple[str, str, str]:
    showing = [row for row in rows if any(_is_of(name, argument) for name in row.shows)]
    names = [operator_case(row, dtype, row.values).name for row in showing for dtype in row.dtypes]
    full = f"`{showing[0].name}`" if showing else ""
    in_quick = [name for name in names if name in quick]
    fast = f"`{'/'.join(in_quick[0].split('/')[1:])}`" if in_quick else ""
    why = "" if showing else find_exception(operator, Fault(argument, None))
    return full, fast, why if why is not None else "eager refuses any other value"


def _is_of(name: str, argument: str) -> bool:
    return name == argument or name.startswith(f"{argument} is ")


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description="Writes the table of arguments that cases show.")
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.parse_args().out.write_text(make_page(read_calls()), encoding="utf-8")


if __name__ == "__main__":
    main()
