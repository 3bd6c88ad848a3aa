"""The data that the stages of a job hand on: input specs, models, quantized modules, lowerings.

Imports no torch, so that recipes can be read without it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.toolchain.sampled_model import SampledModel

if TYPE_CHECKING:
    import torch

    from assay.toolchain.tensors import Sample

TORCHVISION = "torchvision:"
"""Prefix of references to torchvision's models."""

DEFAULT = "to_edge_transform_and_lower"
"""The flow of a lowering that names none."""

Evaluate = Callable[..., Any]
"""Takes the inputs of one sample and returns its outputs."""

BoundaryValue = dict[str, Any]
"""An input or output of a program: {name, dtype, shape, quantization}; -1 is an open size."""


@dataclass(frozen=True)
class InputSpec:
    """One input of a model. Integers are drawn from [low, high).

    A size of -1 is left to a file of inputs; nothing is generated for it.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: int = 0
    high: int = 8
    name: str = ""

    def to_json(self) -> dict[str, Any]:
        """The form in requests and manifests."""
        document: dict[str, Any] = {"shape": list(self.shape), "dtype": self.dtype}
        if self.dtype.startswith(("int", "uint")):
            document |= {"low": self.low, "high": self.high}
        return document | ({"name": self.name} if self.name else {})


@dataclass(frozen=True)
class InputSet:
    """A set of inputs: `count` samples of a generator and a seed, or those of a file.

    `expected`: a file of its own with the outputs that are expected of these inputs.
    """

    generator: str | None = "normal"
    seed: int = 0
    count: int = 1
    role: str = "evaluation"
    file: str | None = None
    expected: str | None = None
    document: dict[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class ModelSpec:
    """A model as a request names it. `weight_init` None: torchvision's models only."""

    ref: str
    args: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    inputs: tuple[InputSpec, ...] | None = None
    weight_init: bool | None = None

    def needs_weight_init(self) -> bool:
        """True if random weights get data-dependent initialization."""
        return self.ref.startswith(TORCHVISION) if self.weight_init is None else self.weight_init


@dataclass(frozen=True)
class Model:
    """A model in memory, in evaluation mode, with inputs to export it by.

    `exported` is set for a .pt2 file; `module` is callable in every case. `sampled`: what
    the model brings in addition to the module. `own`: the inputs that its factory returns.
    `calibrated_by`: digests of the samples that calibrated a quantization of it.
    """

    spec: ModelSpec
    module: "torch.nn.Module"
    inputs: tuple[InputSpec, ...]
    example: "Sample"
    health: dict[str, Any]
    weights_sha256: str
    parameters: int
    exported: "torch.export.ExportedProgram | None" = None
    sampled: SampledModel | None = None
    own: "Sample | None" = None
    calibrated_by: list[str] = field(default_factory=list, compare=False)

    def calibration_digest(self) -> dict[str, str]:
        """{samples_sha256}, or nothing where no samples were drawn."""
        return {"samples_sha256": self.calibrated_by[0]} if self.calibrated_by else {}

    def to_json(self) -> dict[str, Any]:
        """The manifest's account of the model."""
        return {
            "ref": self.spec.ref,
            "args": self.spec.args,
            "seed": self.spec.seed,
            "inputs": [spec.to_json() for spec in self.inputs],
            "weights_sha256": self.weights_sha256,
            "parameters": self.parameters,
            "health": self.health,
        }


@dataclass(frozen=True)
class Quantized:
    """The module to export and the inputs that it takes.

    `quantize_lowered` belongs to a quantization that works on the lowered program: it takes that
    program and returns it quantized. Its second argument turns a calibration sample into the inputs
    of the module where these differ from the model's.
    """

    module: "torch.nn.Module"
    inputs: tuple[InputSpec, ...]
    example: "Sample"
    quantize_lowered: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Lowering:
    """The part of a recipe that turns an exported program into what an engine loads.

    `partitioner` is what the flow's `chooses_by` names: for one of executorch's own recipes its
    name.
    """

    flow: str = DEFAULT
    partitioner: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
