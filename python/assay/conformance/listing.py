"""The cases of both suites, by name: what the job `conform` lists."""

import fnmatch
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from assay.conformance import models
from assay.conformance.calls import find_overload
from assay.conformance.case import FUZZ, MODEL_INPUTS, Case, edge_pairs, operator_case, sample_count
from assay.conformance.fuzz import draw_cases
from assay.conformance.operators import core_overloads, find_reason, packet_name, table
from assay.conformance.recorded_calls import DTYPES, read_calls
from assay.conformance.tiers import quick_names
from assay.toolchain.errors import RequestError
from assay.toolchain.suggest import unknown_name

SCHEMA = "assay/conformance_cases/1"
TIERS = ("quick", "full", FUZZ)
GENERATED_INPUTS = {**MODEL_INPUTS, "generator": "normal"}


def list_cases(
    suite: str,
    tier: str,
    match: Sequence[str],
    dtypes: Sequence[str] | None,
    *,
    seed: int = 0,
    count: int = 100,
) -> dict[str, Any]:
    """{schema, cases, coverage}: the cases of a suite that the request asks for.

    `match`: patterns of operators or of whole names, any of which may fit; empty: all. `seed` and
    `count` are of the tier fuzz, whose cases are drawn.

    Raises:
        RequestError: an unknown suite, tier or type; a suite that has no such tier.
        MissingDependency: what draws cases is not installed.
    """
    known = ((tier, TIERS, "tier"), (suite, SUITES, "suite"))
    for name, names, kind in known:
        if name not in names:
            raise RequestError(unknown_name(kind, name, names))
    for dtype in dtypes or ():
        if dtype not in DTYPES:
            raise RequestError(unknown_name("dtype", dtype, DTYPES))
    if tier == FUZZ and suite != "operators":
        raise RequestError(f"the suite {suite} has no tier {FUZZ}; operators are drawn")
    all_cases = _drawn(match, dtypes, seed, count) if tier == FUZZ else SUITES[suite]()
    cases = [
        case
        for case in all_cases
        if tier == FUZZ
        or (
            (tier == "full" or case.tier == "quick")
            and (not dtypes or case.dtype in dtypes)
            and (not match or _fits(case, match))
        )
    ]
    return {
        "schema": SCHEMA,
        "cases": [case.to_json() for case in cases],
        "coverage": coverage() if suite == "operators" else [],
        "known_gaps_folder": str(resources.files("assay").joinpath("data/conformance")),
    }


def _drawn(
    match: Sequence[str], dtypes: Sequence[str] | None, seed: int, count: int
) -> Sequence[Case]:
    """Cases of the operators that fit, drawn anew."""
    rows = [
        row
        for row in read_calls()
        if not match or any(fnmatch.fnmatchcase(row.operator, pattern) for pattern in match)
    ]
    return draw_cases(rows, dtypes, seed, count)


def _fits(case: Case, patterns: Sequence[str]) -> bool:
    return any(
        fnmatch.fnmatchcase(text, pattern)
        for pattern in patterns
        for text in (case.operator, case.name)
    )


@cache
def operator_cases() -> tuple[Case, ...]:
    """All cases of single operators, those of the quick tier marked."""
    rows = read_calls()
    only = table()["edge_only"]
    made = [
        (row, operator_case(row, dtype, row.values))
        for row in rows
        for dtype in row.dtypes
        if packet_name(row.operator) not in only and sample_count(row, dtype, row.values)
    ]
    shows = {case.name: row.shows for row, case in made}
    cases = [case for _, case in made]
    cases += [
        operator_case(row, dtype, "edge")
        for row, dtype in edge_pairs(rows)
        if sample_count(row, dtype, "edge")
    ]
    quick = quick_names(cases, shows)
    return tuple(replace(c, tier="quick") if c.name in quick else c for c in cases)


def model_cases() -> tuple[Case, ...]:
    """All conformance models, and those of the folders that a user names."""
    return tuple(
        Case(
            name=f"models/{entry.name}",
            model={"ref": models.PREFIX + entry.name, "args": {}},
            operator=entry.name,
            dtype="float32",
            shape_class="typical",
            tier=entry.tier,
            joinable=False,
            cost=entry.cost,
            inputs=GENERATED_INPUTS,
        )
        for entry in models.known_models().values()
    )


def coverage() -> list[dict[str, Any]]:
    """Each core operator and each other one that has cases: how many, and why none."""
    counts = Counter(case.operator for case in operator_cases())
    names = sorted({*core_overloads(), *counts})
    return [
        {
            "operator": name,
            "cases": counts[name],
            "reason": None if counts[name] else _why_none(name, counts),
        }
        for name in names
    ]


def _why_none(operator: str, counts: Counter[str]) -> str:
    reason = find_reason(operator, "no_case")
    if reason is not None:
        return reason
    if operator.endswith((".out", "_out")):
        return "writes into an argument: exporters leave the form that does not"
    if find_overload(operator)._schema.is_mutable:
        return "changes an argument: exporters leave the form that does not"
    twins = [name for name in counts if packet_name(name) == packet_name(operator)]
    if twins:
        return f"torch's samples call {', '.join(sorted(twins))}"
    return "torch has no samples of it, and nobody wrote one"


SUITES: dict[str, Callable[[], tuple[Case, ...]]] = {
    "operators": operator_cases,
    "models": model_cases,
}
