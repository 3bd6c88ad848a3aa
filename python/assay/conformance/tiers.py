"""The quick tier: few cases that together touch everything once.

Every operator has a case, and every refusal is there. One that is told a dimension also has a case
of a tensor without dimensions, on which kernels divide by zero or end the process. Within a family,
the operators whose errors have one reason, each type, each class of shapes and each type with
special values occurs; which operator of the family stands for it is a matter of a digest of its
name, so it does not move when others are added.
"""

import hashlib
from collections.abc import Mapping, Sequence

from assay.conformance.bounds import find_rule
from assay.conformance.calls import find_overload
from assay.conformance.case import Case

PLAIN = ("typical", "odd", "broadcast", "size_one", "high_rank")
"""Classes of shapes from which an operator's own case is taken, the best first."""


def quick_names(
    cases: Sequence[Case], shows: Mapping[str, Sequence[str]] | None = None
) -> frozenset[str]:
    """The names of the quick cases.

    `shows`: by the name of a case the faults of arguments that it shows. Of cases that are as good
    otherwise that one is taken which shows most that no other has shown; then cases follow that
    show what is left.
    """
    shows = shows or {}
    names: set[str] = set()
    shown: set[tuple[str, str]] = set()
    for key in _KEYS:
        groups: dict[tuple[str, ...], list[Case]] = {}
        for case in cases:
            group = key(case)
            if group is not None:
                groups.setdefault(group, []).append(case)
        for _, some in sorted(groups.items()):
            if names.isdisjoint(case.name for case in some):
                best = min(some, key=lambda case: _rank(case, _new_faults(case, shows, shown)))
                names.add(best.name)
                shown |= {(best.operator, fault) for fault in shows.get(best.name, ())}
    for case in sorted(cases, key=lambda case: _rank(case, _new_faults(case, shows, shown))):
        if _new_faults(case, shows, shown):
            names.add(case.name)
            shown |= {(case.operator, fault) for fault in shows[case.name]}
    return frozenset(names)


def _new_faults(case: Case, shows: Mapping[str, Sequence[str]], shown: set[tuple[str, str]]) -> int:
    return sum((case.operator, fault) not in shown for fault in shows.get(case.name, ()))


def _rank(case: Case, new_faults: int) -> tuple[int, int, int, int, int, int, str]:
    """Float before other types, plain shapes before others, more faults before fewer.

    A scalar shows the arguments of a call and hardly its arithmetic. No copies where there is
    something else. The last word has a digest.
    """
    place = PLAIN.index(case.shape_class) if case.shape_class in PLAIN else len(PLAIN)
    digest = hashlib.sha256(case.operator.encode()).hexdigest()
    is_copy = bool(case.model["args"].get("unchanged"))
    special = case.values != "normal"
    is_odd = place == len(PLAIN)
    return (
        *(special, case.dtype != "float32", is_copy, is_odd),
        *(-new_faults, place, digest + case.name),
    )


def _family(case: Case) -> str:
    rule = find_rule(case.operator)
    return f"{rule.name}: {rule.why}"


def _by_operator(case: Case) -> tuple[str, ...] | None:
    return (case.operator,)


def _by_family_and_dtype(case: Case) -> tuple[str, ...] | None:
    return (_family(case), case.dtype)


def _by_family_and_class(case: Case) -> tuple[str, ...] | None:
    return (_family(case), case.shape_class)


def _by_family_and_edges(case: Case) -> tuple[str, ...] | None:
    return (_family(case), case.dtype) if case.values == "edge" else None


def _by_refusal(case: Case) -> tuple[str, ...] | None:
    return (case.name,) if case.refuses else None


def _by_dimension_of_none(case: Case) -> tuple[str, ...] | None:
    is_plain = case.shape_class == "scalar" and case.values == "normal"
    return (case.operator,) if is_plain and names_dimension(case) else None


def names_dimension(case: Case) -> bool:
    """True if the call says which dimension it is about."""
    names = [argument.name for argument in find_overload(case.operator)._schema.arguments]
    call = case.model["args"]
    given = dict(zip(names, call["args"], strict=False)) | call["kwargs"]
    return any(
        "dim" in name and name != "keepdim" and value not in (None, [])
        for name, value in given.items()
    )


_KEYS = (
    _by_operator,
    _by_family_and_dtype,
    _by_family_and_class,
    _by_family_and_edges,
    _by_refusal,
    _by_dimension_of_none,
)
