"""Many models in one program: {"ref": "joint", "args": {"models": [MODEL, …]}}.

Their inputs and outputs stand one after another. The parts share nothing, so what happens to a node
of the program tells of one part only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from assay.toolchain.errors import RequestError
from assay.toolchain.models.loader import Families, load_model, model_spec_from_json
from assay.toolchain.sampled_model import Bound, OpenDimension, SampledModel, Span
from assay.toolchain.suggest import check_keys
from assay.toolchain.tensors import Sample, flatten_tensors, run_module


def make_joint(args: Mapping[str, Any], families: Families) -> SampledModel:
    """The model of all the models.

    `families`: the makers of the parts (models/loader.py).

    Raises:
        RequestError: there are none, or one brings no inputs of its own.
    """
    check_keys("argument of a joint model", args, ("models",))
    parts = [_load(document, families) for document in args.get("models") or []]
    if not parts:
        raise RequestError('a joint model needs "models", a list of at least one')
    samples = [part.make_sample(0, 0) for part in parts]
    counts = [
        (len(sample), len(run_module(part.module, sample)))
        for part, sample in zip(parts, samples, strict=True)
    ]
    spans = _spans(counts)

    def make_sample(seed: int, sample: int) -> Sample:
        return tuple(tensor for part in parts for tensor in part.make_sample(seed, sample))

    def bound(
        sample: Sample, own: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]
    ) -> list[Bound]:
        return [
            one
            for part, span in zip(parts, spans, strict=True)
            for one in _bound(part, _cut(sample, span.inputs), *_both(own, exact, span))
        ]

    module = JointModule([part.module for part in parts], spans)
    doubles = [part.float64_module for part in parts]
    dynamic = tuple(
        places
        for number, (part, sample) in enumerate(zip(parts, samples, strict=True))
        for places in _renamed(part, len(sample), number)
    )
    if any(part.bound is None for part in parts) or any(double is None for double in doubles):
        return SampledModel(module, make_sample, parts=spans, dynamic=dynamic)
    double = JointModule([double for double in doubles if double is not None], spans)
    return SampledModel(module, make_sample, double, bound, spans, dynamic)


def _renamed(part: SampledModel, inputs: int, number: int) -> list[dict[int, OpenDimension]]:
    """The open dimensions of a part's inputs: what two parts call n are two sizes."""
    return [
        {place: replace(one, name=f"{one.name}_{number}") for place, one in places.items()}
        for places in part.dynamic or ({},) * inputs
    ]


def _load(document: Any, families: Families) -> SampledModel:
    spec = model_spec_from_json(document)
    sampled = load_model(spec, families).sampled
    if sampled is None:
        raise RequestError(f"{spec.ref} brings no inputs of its own and cannot be joined")
    return sampled


def _bound(part: SampledModel, sample: Sample, own: Any, exact: Any) -> list[Bound]:
    assert part.bound is not None
    return part.bound(sample, own, exact)


def _both(own: Sequence[Any], exact: Sequence[Any], span: Span) -> tuple[Any, Any]:
    return _cut(own, span.outputs), _cut(exact, span.outputs)


def _cut(values: Sequence[Any], span: tuple[int, int]) -> tuple[Any, ...]:
    return tuple(values[span[0] : span[1]])


def _spans(counts: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Positions of the inputs and outputs of each part, from their numbers."""
    spans, inputs, outputs = [], 0, 0
    for more_inputs, more_outputs in counts:
        spans.append(Span((inputs, inputs + more_inputs), (outputs, outputs + more_outputs)))
        inputs, outputs = inputs + more_inputs, outputs + more_outputs
    return tuple(spans)


class JointModule(torch.nn.Module):  # type: ignore[misc]
    """Calls its parts on their inputs; returns all outputs, flat."""

    def __init__(self, parts: Sequence[torch.nn.Module], spans: Sequence[Span]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)
        self._inputs = [span.inputs for span in spans]

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The outputs of the parts, one part after another."""
        return tuple(
            leaf
            for part, (begin, end) in zip(self.parts, self._inputs, strict=True)
            for leaf in flatten_tensors(part(*inputs[begin:end]))
        )
