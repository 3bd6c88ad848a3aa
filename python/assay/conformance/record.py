"""Records calls of operators from torch's own samples: `python -m assay.conformance.record`.

Writes data/operators/calls.jsonl, a row a call. That is done once for a version of torch and read
in review, so the names of cases do not move under the lists that name them, and nobody who runs
them waits for torch's test tables.
"""

import argparse
import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from assay.conformance.argument_calls import BY_HAND, add_argument_calls, with_copies
from assay.conformance.calls import encode
from assay.conformance.derived_calls import DYNAMIC, REFUSED, derive_calls
from assay.conformance.operators import is_testable, packet_name, split_name, table, wanted_packets
from assay.conformance.recorded_calls import (
    RecordedCall,
    call_to_json,
    choose_calls,
    make_call,
    read_calls,
    with_types,
)
from assay.conformance.sample_counts import with_edge_counts, with_sample_counts
from assay.toolchain.dtypes import dtype_name

CALLS = Path(__file__).parent.parent / "data" / "operators" / "calls.jsonl"
MAX_SAMPLES = 30
"""Samples of one of torch's tables that are run; the tables' first are the plain ones."""

_SKIPPED = ("_refs.", "fft.", "linalg.", "masked.", "ops.", "torch.ops.", "sparse.", "polygamma")
_TAKEN = ("linalg.vector_norm",)


class _Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Notes each wanted call; decomposes what is not wanted by torch's table for export."""

    def __init__(self, found: list[tuple[Any, Any, Any]]) -> None:
        super().__init__()
        self._found = found
        self._decompositions = torch._decomp.core_aten_decompositions()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.namespace == "aten" and packet_name(str(func)) in wanted_packets():
            self._found.append((func, args, kwargs))
        elif func in self._decompositions:
            with self:
                return self._decompositions[func](*args, **kwargs)
        return func(*args, **kwargs)


def record() -> list[RecordedCall]:
    """All rows, those of each operator in the order of their names."""
    from torch.testing._internal.common_methods_invocations import op_db

    rows: list[RecordedCall] = []
    for info in op_db:
        is_skipped = info.name.startswith(_SKIPPED) and info.name not in _TAKEN
        dtype = _dtype_of(info)
        if is_skipped or dtype is None:
            continue
        source = info.name.removeprefix("nn.functional.").replace(".", "_")
        variant = f"-{info.variant_test_name}" if info.variant_test_name else ""
        for number, sample in enumerate(_samples(info, dtype)):
            name = f"{source}{variant}-{number}"
            for overload, args, kwargs in _calls(info, sample):
                row = _row(name, overload, args, kwargs, dtype)
                rows += [] if row is None else [row]
    return choose_calls(rows)


def rows_by_hand() -> list[RecordedCall]:
    """The calls of data/operators/by_hand.json."""
    calls = json.loads((CALLS.parent / "by_hand.json").read_text())["calls"]
    rows = (
        _with_values(make_call(one["operator"], one["name"], _call_of(one)), one) for one in calls
    )
    return with_types([row for row in rows if row is not None])


def _call_of(one: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one[key] for key in ("args", "kwargs", "same") if key in one}


def _with_values(row: RecordedCall | None, one: Mapping[str, Any]) -> RecordedCall | None:
    """The row with special values where the call is made for them."""
    return None if row is None else replace(row, values=str(one.get("values", row.values)))


def _dtype_of(info: Any) -> torch.dtype | None:
    supported = info.supported_dtypes("cpu")
    order = (torch.float32, torch.int64, torch.bool)
    return next((dtype for dtype in order if dtype in supported), None)


def _samples(info: Any, dtype: torch.dtype) -> Iterator[Any]:
    torch.manual_seed(0)
    with contextlib.suppress(Exception):
        for number, sample in enumerate(info.sample_inputs("cpu", dtype)):
            if number >= MAX_SAMPLES:
                return
            yield sample


def _calls(info: Any, sample: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The calls of one sample: the operator of that name itself, then what it decomposes to."""
    args, kwargs = (sample.input, *sample.args), sample.kwargs
    packet = info.aten_name.rpartition(".")[2]
    if packet in wanted_packets() and hasattr(torch.ops.aten, packet):
        with contextlib.suppress(Exception):
            overload = torch._C._jit_resolve_packet(f"aten::{packet}", *args, **kwargs)
            yield getattr(getattr(torch.ops.aten, packet), overload or "default"), args, kwargs
    found: list[tuple[Any, Any, Any]] = []
    with contextlib.suppress(Exception), torch.no_grad(), _Recorder(found):
        info.op(*args, **kwargs)
    yield from found


def _row(
    name: str, overload: Any, args: Any, kwargs: Mapping[str, Any], dtype: torch.dtype
) -> RecordedCall | None:
    """A row of the call; None if it cannot be written down or run alone."""
    if not is_testable(overload):
        return None
    kwargs = {key: one for key, one in kwargs.items() if key not in table()["drop_keywords"]}
    try:
        call = encode_call(overload, args, kwargs, dtype)
    except ValueError:
        return None
    return make_call(str(overload), name, call)


def encode_call(
    overload: Any, args: Any, kwargs: Mapping[str, Any], dtype: torch.dtype
) -> dict[str, Any]:
    """The call as data; tensors of `dtype` are written as "case".

    Raises:
        ValueError: it has an argument that has no form.
    """
    names = [argument.name for argument in overload._schema.arguments]
    domains = table()["domains"]
    name = str(overload)
    domain: Mapping[str, Any] = next(
        (domains[one] for one in split_name(name) if one in domains), {}
    )

    def written(name: str, value: Any) -> Any:
        return encode(value, lambda tensor: _tensor(tensor, name, domain.get(name, {}), dtype))

    pairs = list(zip(names, args, strict=False))
    return {
        "args": [_plain(written(name, value)) for name, value in pairs],
        "kwargs": {name: _plain(written(name, value)) for name, value in kwargs.items()},
    }


def _plain(value: Any) -> Any:
    """Numbers as every floating type has them: rounded to bfloat16's eight bits."""
    if isinstance(value, float):
        return float(torch.tensor(value).to(torch.bfloat16))
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _tensor(
    tensor: torch.Tensor, name: str, domain: Mapping[str, Any], dtype: torch.dtype
) -> dict[str, Any]:
    if tensor.is_complex() or tensor.layout != torch.strided or tensor.is_quantized:
        raise ValueError("no form for this tensor")
    is_case = tensor.dtype == dtype
    document: dict[str, Any] = {"shape": list(tensor.shape), "dtype": "case"}
    if not is_case:
        document["dtype"] = dtype_name(tensor.dtype)
        if tensor.dtype in (torch.int64, torch.int32) and tensor.numel():
            document |= {"low": int(tensor.min()), "high": int(tensor.max()) + 1}
    if name in table()["constants"]:
        document["constant"] = True
    return document | _fitting(domain, tensor, document)


def _fitting(
    domain: Mapping[str, Any], tensor: torch.Tensor, document: Mapping[str, Any]
) -> dict[str, Any]:
    """The keys of the operator's domain that apply to the tensor's type."""
    order = domain.get("order")
    if order == "trues" and tensor.dtype != torch.bool:
        return {}
    if order == "distinct" and not tensor.is_floating_point() and "high" in document:
        largest = max(tensor.shape, default=1)
        return {"order": order, "high": max(int(document["high"]), largest), "low": 0}
    return dict(domain)


def _rows(is_by_hand: bool) -> list[RecordedCall]:
    """The calls recorded before or now, and those written by hand."""
    recorded = read_calls() if is_by_hand else record()
    kept = [row for row in recorded if not row.name.startswith(BY_HAND)]
    return sorted([*kept, *rows_by_hand()], key=lambda row: row.operator)


def _with_new_by_hand() -> list[RecordedCall]:
    """The calls of the file, and those written by hand since."""
    known = list(read_calls())
    names = {(row.operator, row.name) for row in known}
    new = [row for row in rows_by_hand() if (row.operator, row.name) not in names]
    rows = sorted([*known, *new], key=lambda row: row.operator)
    tuned = {(one.operator, one.name): one for one in with_edge_counts(new, rows)}
    return [tuned.get((row.operator, row.name), row) for row in rows]


def main() -> None:
    """Writes the calls."""
    parser = argparse.ArgumentParser(description="Records calls of operators from torch's samples.")
    parser.add_argument("--out", type=Path, default=CALLS)
    parser.add_argument("--only-by-hand", action="store_true", help="keep what was recorded")
    parser.add_argument("--only-tune", action="store_true", help="keep all calls")
    parser.add_argument(
        "--only-arguments",
        action="store_true",
        help="keep all calls, add new ones by hand and those that show a fault of an argument",
    )
    parser.add_argument("--match", default="*", help="operators to look at for --only-arguments")
    args = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    if args.only_arguments:
        rows = _with_new_by_hand()
    else:
        rows = list(read_calls()) if args.only_tune else _rows(args.only_by_hand)
        rows = [row for row in rows if row.shape_class != DYNAMIC and row.values != REFUSED]
        rows = sorted([*rows, *derive_calls(rows)], key=lambda row: row.operator)
        rows = with_sample_counts(rows)
    rows, missing = add_argument_calls(rows, args.match)
    rows = with_copies(rows, args.match)
    args.out.write_text("".join(json.dumps(call_to_json(row)) + "\n" for row in rows))
    print(f"{len(rows)} calls of {len({row.operator for row in rows})} operators")
    if missing:
        print("no call shows these faults; write one in by_hand.json, or the reason in")
        print("hidden_arguments of operators.json:")
        print("\n".join(f"  {name}: {', '.join(faults)}" for name, faults in missing.items()))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
