"""Calls of operators drawn by hypothesis: recorded calls with other sizes, layouts, parameters.

The same seed draws the same calls. A call that eager refuses, or to which no wrong answer would
show, is drawn again. `calls` is the strategy, for tests of one's own: what they fail on is shrunk
towards small sizes, plain layouts and the recorded parameters.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from assay.conformance.argument_faults import Witness
from assay.conformance.calls import LAYOUTS, get_tensors, map_tensors
from assay.conformance.case import FUZZ, Case, edge_pairs, operator_case
from assay.conformance.operators import find_reason
from assay.conformance.recorded_calls import (
    RecordedCall,
    read_calls,
    runs,
    shape_class_from_call,
    with_dtype,
)
from assay.conformance.sample_counts import find_sample_count
from assay.toolchain.errors import MissingDependency

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

MAX_SIZE = 9
"""The largest size of a dimension that is drawn."""

_TRIES = 4
"""Calls to draw near, for each case that is wanted, at most."""

_EXAMPLES = 6
"""Draws near one call, of which the first that tells something is taken."""

_FLOATS = (0.0, 0.5, -1.25, 3.0, 1024.0)


@dataclass(frozen=True)
class FuzzedCall:
    """A call in one type; `values`: "normal" or "edge"."""

    row: RecordedCall
    dtype: str
    values: str

    def args(self) -> dict[str, Any]:
        """The arguments of its model."""
        return {**with_dtype(self.row.call, self.dtype), "values": self.values}


def calls(rows: Sequence[RecordedCall] | None = None) -> "SearchStrategy[FuzzedCall]":
    """Calls near the recorded ones of `rows`, None: all. Not each is one that eager takes.

    Raises:
        MissingDependency: hypothesis is not installed.
    """
    strategies = _hypothesis().strategies
    known = [row for row in (read_calls() if rows is None else rows) if _is_drawn_from(row)]
    edges = {(row.operator, row.name, dtype) for row, dtype in edge_pairs(known)}

    @strategies.composite  # type: ignore[untyped-decorator]
    def drawn(draw: "DrawFn") -> FuzzedCall:
        row: RecordedCall = draw(strategies.sampled_from(known))
        dtype: str = draw(strategies.sampled_from(row.dtypes))
        has_edges = (row.operator, row.name, dtype) in edges
        values = draw(strategies.sampled_from(("normal", "edge"))) if has_edges else "normal"
        call = _with_layouts(draw, _with_parameters(draw, _with_sizes(draw, row.call)))
        return FuzzedCall(_named(replace(row, call=call), dtype, values), dtype, values)

    made: SearchStrategy[FuzzedCall] = drawn()
    return made


def draw_cases(
    rows: Sequence[RecordedCall], dtypes: Sequence[str] | None, seed: int, count: int
) -> list[Case]:
    """`count` different cases, or those that were found in a limited number of tries.

    Operators come in turn, in an order of the seed's, so that none has many cases before all have
    one; which of an operator's calls it is near is drawn.

    Raises:
        MissingDependency: hypothesis is not installed.
    """
    by_operator: dict[str, list[tuple[RecordedCall, str]]] = {}
    for row in filter(_is_drawn_from, rows):
        pairs = [(row, dtype) for dtype in row.dtypes if not dtypes or dtype in dtypes]
        if pairs:
            by_operator.setdefault(row.operator, []).extend(pairs)
    order, random = sorted(by_operator), Random(seed)
    random.shuffle(order)
    cases: dict[str, Case] = {}
    for number in range(_TRIES * count if order else 0):
        row, dtype = random.choice(by_operator[order[number % len(order)]])
        case = _draw_case(replace(row, dtypes=(dtype,)), random.randrange(2**32))
        if case is not None:
            cases.setdefault(case.name, case)
        if len(cases) == count:
            break
    return list(cases.values())


def _draw_case(row: RecordedCall, seed: int) -> Case | None:
    """A case near a call that tells something; None if the first few do not."""
    hypothesis = _hypothesis()
    cases: list[Case] = []

    @hypothesis.seed(seed)  # type: ignore[untyped-decorator]
    @hypothesis.settings(  # type: ignore[untyped-decorator]
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(calls([row]))  # type: ignore[untyped-decorator]
    def collect(call: FuzzedCall) -> None:
        is_recorded = call.row.call == row.call and call.values == "normal"
        if not cases and not is_recorded and is_taken(call):
            samples = find_sample_count(call.row, call.dtype, call.values)
            if samples and _is_needless_copy(call, samples):
                return
            case = operator_case(call.row, call.dtype, call.values)
            if samples:
                inputs = {**case.inputs, "count": samples}
                cases.append(replace(case, tier=FUZZ, inputs=inputs))

    collect()
    return cases[0] if cases else None


def _is_needless_copy(call: FuzzedCall, samples: int) -> bool:
    """True if an input, unchanged, would pass; recorded calls of that kind are enough."""
    return Witness(call.row, call.dtype, call.values, samples).is_copy()


def is_taken(call: FuzzedCall) -> bool:
    """True if eager takes a call, and its float64 form too, on ordinary values."""
    return runs(call.row, call.dtype)


def _is_drawn_from(row: RecordedCall) -> bool:
    """Not from calls that are made of others, nor of operators that write where they should not."""
    is_plain = row.values == "normal" and "dimensions" not in row.call
    return is_plain and bool(row.dtypes) and find_reason(row.operator, "not_drawn") is None


def _named(row: RecordedCall, dtype: str, values: str) -> RecordedCall:
    """The row with a name of what it is, so that it names the same call in every version."""
    call = {key: one for key, one in row.call.items() if key != "same"}
    text = json.dumps([row.operator, dtype, values, call], sort_keys=True)
    name = f"{FUZZ}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    call_class = row.shape_class
    with contextlib.suppress(RuntimeError):
        call_class = shape_class_from_call(call)
    return replace(row, name=name, call=call, shape_class=call_class, samples={})


def _with_sizes(draw: "DrawFn", call: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes that are alike stay alike: operands keep fitting each other."""
    strategies = _hypothesis().strategies
    specs = get_tensors(with_dtype(call, "float32"))
    sizes = sorted({size for spec in specs for size in spec.shape if size > 1})
    other = {size: draw(strategies.just(size) | strategies.integers(1, MAX_SIZE)) for size in sizes}

    def resized(tensor: Mapping[str, Any]) -> dict[str, Any]:
        return {**tensor, "shape": [other.get(size, size) for size in tensor["shape"]]}

    return _changed(call, resized)


def _with_layouts(draw: "DrawFn", call: Mapping[str, Any]) -> dict[str, Any]:
    strategies = _hypothesis().strategies

    def laid(tensor: Mapping[str, Any]) -> dict[str, Any]:
        known = [one for one in LAYOUTS if one != "channels_last" or len(tensor["shape"]) == 4]
        layout = draw(strategies.sampled_from(known))
        is_left = tensor.get("constant") or layout == "contiguous"
        plain = {key: one for key, one in tensor.items() if key != "layout"}
        return plain if is_left else {**plain, "layout": layout}

    return _changed(call, laid)


def _with_parameters(draw: "DrawFn", call: Mapping[str, Any]) -> dict[str, Any]:
    """Changes at most one plain argument."""
    strategies = _hypothesis().strategies
    places = [
        n for n, argument in enumerate(call["args"]) if isinstance(argument, (bool, int, float))
    ]
    place = draw(strategies.none() | strategies.sampled_from(places)) if places else None
    if place is None:
        return dict(call)
    args, value = list(call["args"]), call["args"][place]
    if isinstance(value, bool):
        args[place] = not value
    elif isinstance(value, int):
        args[place] = draw(strategies.integers(-2, 3))
    else:
        args[place] = draw(strategies.sampled_from(_FLOATS))
    return {**call, "args": args}


def _changed(call: Mapping[str, Any], change: Any) -> dict[str, Any]:
    return {**call, **{key: map_tensors(call[key], change) for key in ("args", "kwargs")}}


def _hypothesis() -> Any:
    try:
        import hypothesis
        import hypothesis.strategies
    except ImportError as error:
        text = "hypothesis is not installed, and draws the calls; pip install hypothesis"
        raise MissingDependency(text) from error
    return hypothesis
