"""The quick tier: few cases that together touch everything once.

Every operator has a case, and every refusal is there. Within a family, the operators whose errors
have one reason, each type, each class of shapes and each type with special values occurs; which
operator of the family stands for it is a matter of a digest of its name, so it does not move when
others are added.
"""

import hashlib
from collections.abc import Sequence

from assay.conform.bounds import find_rule
from assay.conform.case import Case

PLAIN = ("typical", "odd", "broadcast", "size_one", "high_rank")
"""Classes of shapes from which an operator's own case is taken, the best first."""


def quick_names(cases: Sequence[Case]) -> frozenset[str]:
    """The names of the quick cases."""
    names: set[str] = set()
    for key in _KEYS:
        best: dict[tuple[str, ...], Case] = {}
        for case in sorted(cases, key=_rank):
            group = key(case)
            if group is not None:
                best.setdefault(group, case)
        names |= {case.name for case in best.values()}
    return frozenset(names)


def _rank(case: Case) -> tuple[int, int, int, str]:
    """Float before other types, plain shapes before odd ones; then in the order of a digest."""
    place = PLAIN.index(case.shape_class) if case.shape_class in PLAIN else len(PLAIN)
    digest = hashlib.sha256(case.operator.encode()).hexdigest()
    return (case.values != "normal", case.dtype != "float32", place, digest + case.name)


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


_KEYS = (
    _by_operator,
    _by_family_and_dtype,
    _by_family_and_class,
    _by_family_and_edges,
    _by_refusal,
)
