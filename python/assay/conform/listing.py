"""The cases of both suites, by name: what the job `conform` lists."""

import fnmatch
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from assay.conform import models
from assay.conform.bounds import find_rule
from assay.conform.calls import find_overload, tensors_of
from assay.conform.dimensions import ROUND
from assay.conform.operators import core_overloads, find_reason, packet_name, table
from assay.conform.recorded_calls import DTYPES, Row, read_rows, with_dtype
from assay.toolchain.errors import RequestError
from assay.toolchain.suggest import unknown_name

SCHEMA = "assay/conformance_cases/1"
FUZZ = "fuzz"
TIERS = ("quick", "full", FUZZ)
EDGE_DTYPES = ("float32", "float16", "bfloat16", "int32", "int8")
EDGE_RULES = ("exact", "ulp", "composite", "sum_of_two")
"""Rules under which special values keep their meaning element by element."""

OWN_INPUTS: dict[str, Any] = {"generator": "own", "count": 3, "seed": 1}
MODEL_INPUTS = {**OWN_INPUTS, "generator": "normal"}

_ELEMENTS_OF_A_LOWERING = 20_000
"""Elements that take about as long as lowering a call takes."""


@dataclass(frozen=True)
class Case:
    """One case. `cost`: about how much longer than a small operator it takes.

    `refuses`: the program has to refuse the last of its samples, by an error.
    """

    name: str
    model: dict[str, Any]
    operator: str
    dtype: str
    shape_class: str
    values: str = "normal"
    tier: str = "full"
    joinable: bool = True
    refuses: bool = False
    cost: float = 1.0
    inputs: dict[str, Any] = field(default_factory=lambda: dict(OWN_INPUTS))

    def to_json(self) -> dict[str, Any]:
        """As the job answers."""
        return dict(vars(self))


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
    from assay.conform.fuzz import draw_cases

    rows = [
        row
        for row in read_rows()
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
    from assay.conform.tiers import quick_names

    rows = read_rows()
    only = table()["edge_only"]
    cases = [
        operator_case(row, dtype, row.values)
        for row in rows
        for dtype in row.dtypes
        if packet_name(row.operator) not in only and _samples(row, dtype, "normal")
    ]
    cases += [
        operator_case(row, dtype, "edge")
        for row, dtype in edge_pairs(rows)
        if _samples(row, dtype, "edge")
    ]
    quick = quick_names(cases)
    return tuple(replace(c, tier="quick") if c.name in quick else c for c in cases)


def edge_pairs(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    """The calls and types in which special values have a meaning."""
    return [
        (row, dtype)
        for row in _first_rows(rows)
        for dtype in row.dtypes
        if dtype in EDGE_DTYPES and _has_edges(row, dtype)
    ]


def _samples(row: Row, dtype: str, values: str) -> int:
    """How many samples a case of the row has."""
    key = f"{dtype}-edge" if values == "edge" else dtype
    return row.samples.get(key, least_samples(row))


def least_samples(row: Row) -> int:
    """Three, or where dimensions are open as many as have one size twice."""
    return ROUND if "dimensions" in row.call else int(OWN_INPUTS["count"])


def operator_case(row: Row, dtype: str, values: str) -> Case:
    """The case of a call in one type; `values`: "normal", "edge" or "refused"."""
    call = with_dtype(row.call, dtype)
    suffix = "-edge" if values == "edge" else ""
    args = {**call, "values": values}
    size = sum(math.prod(spec.shape) for spec in tensors_of(call))
    return Case(
        name=f"{row.operator}/{dtype}/{row.name}{suffix}",
        model={"ref": row.operator.replace(".", ":", 1), "args": args},
        operator=row.operator,
        dtype=dtype,
        shape_class=row.shape_class,
        values=values,
        joinable=_is_joinable(row),
        refuses=values == "refused",
        cost=round(1.0 + size / _ELEMENTS_OF_A_LOWERING, 2),
        inputs={**OWN_INPUTS, "count": _samples(row, dtype, values)},
    )


def _is_joinable(row: Row) -> bool:
    """Whether a program of many cases may have it.

    ExecuTorch 1.5.1 refuses a whole program for one tensor without elements.
    """
    is_free = find_reason(row.operator, "not_joinable") is None
    return is_free and row.shape_class != "zero_size" and row.values == "normal"


def _first_rows(rows: Sequence[Row]) -> list[Row]:
    """For each operator its first call that has elements enough for special values."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.shape_class in ("typical", "odd", "broadcast"):
            found.setdefault(row.operator, row)
    return list(found.values())


def _has_edges(row: Row, dtype: str) -> bool:
    """Whether special values have a meaning here: with ties, no index is the right one."""
    specs = tensors_of(with_dtype(row.call, dtype))
    is_ordered = any(spec.order == "distinct" for spec in specs)
    takes = any(spec.dtype == dtype and not spec.is_constant for spec in specs)
    is_known = packet_name(row.operator) not in table()["no_edges"]
    return is_known and takes and not is_ordered and find_rule(row.operator).name in EDGE_RULES


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
            inputs=MODEL_INPUTS,
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
