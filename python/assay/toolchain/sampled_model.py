"""Models that come with samples, bounds of error or parts of their own.

A factory may return a `SampledModel` instead of a module. The input set {"generator": "model"} then
takes the model's samples, a float64 reference has bounds, and a program of several parts is
described part by part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from assay.toolchain.tensors import Sample

FROM_MODEL = "model"
"""The generator of input sets that takes the samples of a SampledModel."""

CALIBRATION_SEED = 1000
"""The default seed of the model's samples for calibration."""

VALID_SAMPLES = 2
"""An evaluation has this many valid samples before those that a program has to refuse."""


@dataclass(frozen=True)
class Bound:
    """Bound of the distance of one correct output from the float64 reference.

    `expected` is the reference with what overflows the output's type as infinity; `limit` is
    float64, of the same shape: 0 exact, inf anything. `rule` says where it comes from.
    """

    expected: "torch.Tensor"
    limit: "torch.Tensor"
    rule: dict[str, Any]


@dataclass(frozen=True)
class Span:
    """The inputs and outputs of a program that belong to one part: [begin, end)."""

    inputs: tuple[int, int]
    outputs: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        """The form in manifests and references."""
        return {"inputs": list(self.inputs), "outputs": list(self.outputs)}


@dataclass(frozen=True)
class OpenDimension:
    """A size that a program leaves open between two bounds, by name: the same in all its places."""

    name: str
    least: int
    most: int


BoundFunction = Callable[
    ["Sample", "Sequence[torch.Tensor]", "Sequence[torch.Tensor]"], "list[Bound]"
]
"""Takes a sample, the module's outputs for it, and the outputs of its float64 form."""


@dataclass(frozen=True)
class SampledModel:
    """A module with samples of its own.

    `make_sample(seed, index)` makes sample number `index`; samples of two seeds share no values.
    `float64_module` computes the same in float64; `bound` gives a Bound for each output. `parts`
    are those of a joint program; empty for any other model. `dynamic`: for each input the
    dimensions that the program leaves open; samples then differ in shape. `invalid_sample` makes
    samples that the program has to refuse; an evaluation has them after `VALID_SAMPLES` others.
    `drawn_sha256`: the digest of its weights before they were initialized from data, if they were.
    """

    module: "torch.nn.Module"
    make_sample: "Callable[[int, int], Sample]"
    float64_module: "torch.nn.Module | None" = None
    bound: "BoundFunction | None" = None
    parts: tuple[Span, ...] = field(default=())
    dynamic: tuple[dict[int, OpenDimension], ...] = ()
    invalid_sample: "Callable[[int, int], Sample] | None" = None
    drawn_sha256: str | None = None

    def samples(self, seed: int, count: int) -> "list[Sample]":
        """The samples of an evaluation."""
        if self.invalid_sample is None:
            return [self.make_sample(seed, index) for index in range(count)]
        return [
            (self.make_sample if index < VALID_SAMPLES else self.invalid_sample)(seed, index)
            for index in range(count)
        ]
