"""Calls that show what recorded ones do not: an argument that a backend ignores.

The recorder tries the faults of each argument (argument_faults.py) on the calls of an operator.
For a fault that none shows it tries other values in them, and keeps the first call that shows it.
"""

import contextlib
import fnmatch
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.conformance.argument_faults import (
    UNCHANGED,
    WORDS,
    Fault,
    Witness,
    arguments_of,
    by_operator,
    faults_of,
    find_exception,
    is_possible,
    kind_of,
    value_in,
    with_argument,
)
from assay.conformance.calls import get_tensors
from assay.conformance.case import edge_pairs, least_samples, sample_count, type_key
from assay.conformance.child import in_child
from assay.conformance.derived_calls import REFUSED
from assay.conformance.operators import find_reason, packet_name, table
from assay.conformance.recorded_calls import (
    RecordedCall,
    call_to_json,
    read_call,
    runs,
    shape_class_from_call,
    with_dtype,
)
from assay.conformance.sample_counts import find_sample_count, with_edge_counts

DTYPES = ("float32", "float16", "int32")
"""Types of the calls that are made here, where the operator takes them."""

BY_HAND = "hand-"
"""Prefix of the names of calls that are written by hand."""

_SAMPLES = 3
_LOOKED_AT = 16
"""Calls of an operator that are looked at, the plainest."""

_BASES = 6
"""Calls of an operator in which other values are tried."""

_TRIES = 120
"""Calls that are tried for one fault."""

_VALUES: dict[str, tuple[Any, ...]] = {
    "bool": (True, False),
    "int": (1, 2, -1, 0, 3, -2),
    "SymInt": (2, 1, 3, -1, 0),
    "float": (2.0, 0.5, -1.25, 3.0, 0.0, 1.0),
    "number": (2.0, 0.5, 2, 3, -1.25, 0.0, 1.0),
}
_LISTS: tuple[list[int], ...] = (
    [2, 1, 1],
    [1, 2, 2],
    [0, 1, 2],
    [1, 1, 1],
    [0, 0, 0],
    [-1, -2, -3],
)


_POSITIVE = ("kernel_size", "stride", "dilation")
"""Lists of sizes that eager divides by, whatever they are."""


@dataclass
class Shown:
    """The faults that the calls of an operator show.

    `rows`: those that were made here. `by_row`: by the name of a call the faults that stand to its
    account. `missing`: faults that no call shows, without a reason.
    """

    rows: list[RecordedCall] = field(default_factory=list)
    by_row: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def look_at_arguments(operator: str, rows: Sequence[RecordedCall]) -> Shown:
    """Finds a call of the operator for each fault that shows it, and makes calls that lack."""
    known = sorted(filter(_is_usable, rows), key=_plainness)
    by_hand = [row for row in known if row.name.startswith(BY_HAND)]
    usable = [*by_hand, *(row for row in known if row not in by_hand)][: _LOOKED_AT + len(by_hand)]
    is_risky = find_reason(operator, "not_drawn") is not None
    shown = None if is_risky else in_child(lambda: _written(_look(operator, usable, False)))
    if shown is None:
        shown = in_child(lambda: _written(_look(operator, usable, True)))
    if shown is None:
        return Shown(missing=["all: eager dies of trying them"])
    return Shown([read_call(row) for row in shown[0]], shown[1], shown[2])


def _written(shown: Shown) -> list[Any]:
    return [[call_to_json(row) for row in shown.rows], shown.by_row, shown.missing]


def _look(operator: str, rows: Sequence[RecordedCall], is_risky: bool) -> Shown:
    """`is_risky`: eager may die of a fault, so each is tried in a child."""
    search = _Search(operator, rows, is_risky)
    for fault in search.faults:
        is_open = not search.is_settled(fault) and find_exception(operator, fault) is None
        if is_open and find_reason(operator, "not_drawn") is None:
            search.add_call_for(fault)
    return search.result()


def _is_usable(row: RecordedCall) -> bool:
    is_plain = row.values != "refused" and "dimensions" not in row.call
    return is_plain and bool(row.dtypes) and row.shape_class != "zero_size"


class _Search:
    """The calls of one operator, executed with each fault."""

    def __init__(self, operator: str, rows: Sequence[RecordedCall], is_risky: bool) -> None:
        self._operator = operator
        self._is_risky = is_risky
        self.faults = faults_of(operator, rows)
        self._witnesses: list[Witness] = []
        self._looks: dict[str, dict[str, str]] = {fault.name: {} for fault in self.faults}
        self._made: list[RecordedCall] = []
        for row in rows:
            values = "edge" if packet_name(operator) in table()["edge_only"] else row.values
            count = sample_count(row, row.dtypes[0], values)
            if count:
                self._take(Witness(row, row.dtypes[0], values, min(count, _SAMPLES)))

    def _take(self, witness: Witness) -> None:
        self._witnesses.append(witness)
        for fault in self.faults:
            self._looks[fault.name][witness.row.name] = self._look(witness, fault)

    def _look(self, witness: Witness, fault: Fault) -> str:
        if not self._is_risky:
            return witness.look(fault)
        return in_child(lambda: witness.look(fault)) or "refused"

    def is_settled(self, fault: Fault) -> bool:
        """True if a call shows the fault, or no backend can have it."""
        looks = list(self._looks[fault.name].values())
        return "shown" in looks or not is_possible(looks)

    def add_call_for(self, fault: Fault) -> None:
        """Adds the first call that shows the fault."""
        for row in itertools.islice(self._candidates(fault), _TRIES):
            witness = self._witness(row, fault)
            if witness is not None:
                self._made.append(witness.row)
                self._take(witness)
                return

    def _witness(self, row: RecordedCall, fault: Fault) -> Witness | None:
        with contextlib.suppress(Exception):
            if self._is_risky and in_child(lambda: bool(_try(row, fault))) is not True:
                return None
            return _try(row, fault)
        return None

    def _candidates(self, fault: Fault) -> Iterator[RecordedCall]:
        bases = sorted((one.row for one in self._witnesses), key=_plainness)[:_BASES]
        names = [one.name for one in arguments_of(self._operator)]
        asked = names if fault.argument == UNCHANGED else [fault.argument]
        for base in bases:
            for name in asked:
                yield from self._with_values(base, name, base.name, fault)
        for base in bases[:3]:
            for other in (name for name in names if name not in asked):
                for changed in self._with_values(base, other, base.name, None):
                    for name in asked:
                        yield from self._with_values(changed, name, base.name, fault)

    def _with_values(
        self, row: RecordedCall, name: str, base: str, fault: Fault | None
    ) -> Iterator[RecordedCall]:
        argument = next(one for one in arguments_of(self._operator) if one.name == name)
        given = value_in(row.call, self._operator, name)
        for value in _values_of(argument, given):
            call = with_argument(row.call, self._operator, name, value)
            is_other = fault is None or fault.argument == UNCHANGED or value != fault.value
            if call is not None and value != given and is_other:
                call.pop("same", None)
                yield replace(
                    row,
                    name=self._name(f"{base}-{name}"),
                    call=call,
                    dtypes=tuple(one for one in row.dtypes if one in DTYPES) or row.dtypes[:1],
                    shape_class=shape_class_from_call(call),
                    samples={},
                )

    def _name(self, stem: str) -> str:
        taken = {one.row.name for one in self._witnesses}
        names = (f"{stem}{letter}" for letter in ("", *"bcdefghijklmnopqrstuvwxyz"))
        return next(name for name in names if name not in taken)

    def result(self) -> Shown:
        """The calls that were made, and a least number of calls that show all faults."""
        open_faults = {
            fault.name for fault in self.faults if "shown" in self._looks[fault.name].values()
        }
        by_row: dict[str, list[str]] = {}
        while open_faults:
            shown = {
                one.row.name: [
                    name
                    for name in sorted(open_faults)
                    if self._looks[name][one.row.name] == "shown"
                ]
                for one in self._witnesses
            }
            # A scalar shows what a matrix shows, and hardly the arithmetic: it comes after one.
            best = min(
                self._witnesses,
                key=lambda one: (-len(shown[one.row.name]), _plainness(one.row)[:2]),
            )
            by_row[best.row.name] = shown[best.row.name]
            open_faults -= set(shown[best.row.name])
        missing = [
            fault.name
            for fault in self.faults
            if not self.is_settled(fault) and find_exception(self._operator, fault) is None
        ]
        return Shown(self._made, by_row, missing)


def _try(row: RecordedCall, fault: Fault) -> Witness | None:
    """The call executed, if eager takes it, it tells wrong answers, and shows the fault."""
    if not runs(row, row.dtypes[0]):
        return None
    witness = Witness(row, row.dtypes[0], row.values, least_samples(row))
    is_told = witness.look(fault) == "shown" and find_sample_count(row, row.dtypes[0], row.values)
    return witness if is_told else None


def _plainness(row: RecordedCall) -> tuple[bool, int, str]:
    """The first are those of few elements that have dimensions of a usual size and layout."""
    specs = list(get_tensors(with_dtype(row.call, "float32")))
    is_odd = any(spec.layout != "contiguous" or len(spec.shape) < 2 for spec in specs[:1])
    is_odd |= row.shape_class not in ("typical", "odd", "broadcast")
    return (is_odd, sum(math.prod(spec.shape) for spec in specs), row.name)


def _values_of(argument: Any, given: Any) -> Iterator[Any]:
    """Values to try of an argument, lists as long as the given one."""
    kind, is_list = kind_of(argument)
    if argument.name == "dtype":
        yield from ({"torch": name} for name in ("float32", "float64", "int32"))
    elif is_list and kind in ("int", "SymInt"):
        lengths = [len(given)] if isinstance(given, list) and given else []
        for length in [*lengths, *(one for one in (1, 2, 3) if one not in lengths)]:
            lists = (one[:length] for one in _LISTS)
            yield from (one for one in lists if argument.name not in _POSITIVE or min(one) > 0)
        yield []
    elif argument.name in WORDS:
        yield from WORDS[argument.name]
    elif not is_list:
        yield from _VALUES.get(kind, ())


def _tuned(made: Sequence[RecordedCall], rows: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The calls that were made, with their samples; without those that eager dies of."""
    written = in_child(
        lambda: [call_to_json(one) for one in with_edge_counts(made, [*rows, *made])]
    )
    return [read_call(one) for one in written or ()]


def add_argument_calls(
    rows: Sequence[RecordedCall], match: str = "*"
) -> tuple[list[RecordedCall], dict[str, list[str]]]:
    """The rows with those that show what the others hide, and by operator what stays hidden.

    `match`: a pattern of operators to look at; the others stay as they are.
    """
    kept: list[RecordedCall] = []
    missing: dict[str, list[str]] = {}
    for operator, some in by_operator(rows):
        if not fnmatch.fnmatchcase(operator, match):
            kept += some
            continue
        shown = look_at_arguments(operator, some)
        made = _tuned(shown.rows, some)
        kept += [
            replace(row, shows=tuple(shown.by_row.get(row.name, ()))) for row in [*some, *made]
        ]
        if shown.missing:
            missing[operator] = shown.missing
    return kept, missing


def with_copies(rows: Sequence[RecordedCall], match: str = "*") -> list[RecordedCall]:
    """The rows with the types in which they answer with an input unchanged."""
    edges = {(row.operator, row.name, dtype) for row, dtype in edge_pairs(rows)}
    return [
        _with_copies(row, edges) if fnmatch.fnmatchcase(row.operator, match) else row
        for row in rows
    ]


def _with_copies(row: RecordedCall, edges: set[tuple[str, str, str]]) -> RecordedCall:
    has_answer = row.values != REFUSED or "dimensions" in row.call
    if not has_answer or row.shape_class == "zero_size":
        return replace(row, copies=())
    # Eager answers to sizes beyond a dimension's range, and a backend may too.
    asked = replace(row, values="normal") if row.values == REFUSED else row
    kinds = [(dtype, asked.values) for dtype in row.dtypes]
    kinds += [(dtype, "edge") for dtype in row.dtypes if (row.operator, row.name, dtype) in edges]
    copies = [
        type_key(asked, dtype, values)
        for dtype, values in kinds
        if is_copy_call(asked, dtype, values)
    ]
    return replace(row, copies=tuple(copies))


def is_copy_call(row: RecordedCall, dtype: str, values: str) -> bool:
    """True if a call answers with an input unchanged."""
    count = sample_count(row, dtype, values)
    return count > 0 and Witness(row, dtype, values, count).is_copy()
