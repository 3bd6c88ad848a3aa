"""Quantization of lowered programs: the interface that a lowering flow fills in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.toolchain.types import Evaluate, Lowering

if TYPE_CHECKING:
    import torch

    from assay.toolchain.tensors import Sample


@dataclass(frozen=True)
class PostLoweringQuantization:
    """A quantization that works on the lowered program: no torch graph holds its result.

    `lower` makes the program that is quantized. `apply` takes it, the quantization's options and
    the calibration samples, and returns it quantized. `evaluate` makes a function of the quantized
    program that computes quantize and dequantize as they are written.
    """

    name: str
    check_options: Callable[[Mapping[str, Any]], None]
    lower: "Callable[[torch.export.ExportedProgram, Lowering], Any]"
    apply: "Callable[[Any, Mapping[str, Any], Sequence[Sample]], Any]"
    evaluate: Callable[[Any], Evaluate]
    needs: tuple[str, ...] = ()
