"""Specifies how activations and weights are quantized: the meaning of the quantizer's options."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import Node
from torchao.quantization.pt2e import HistogramObserver, MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationSpec,
)

from fixedpoint.integer_types import INT8, INT16, TYPES, IntegerType
from fixedpoint.observers import (
    PowerOfTwoChannelObserver,
    PowerOfTwoHistogramObserver,
    PowerOfTwoMinMaxObserver,
    SymmetricHistogramObserver,
    SymmetricMinMaxObserver,
    power_of_two_above,
)

_OBSERVERS = {
    "affine": {"histogram": HistogramObserver, "minmax": MinMaxObserver},
    "symmetric": {"histogram": SymmetricHistogramObserver, "minmax": SymmetricMinMaxObserver},
    "power_of_two": {"histogram": PowerOfTwoHistogramObserver, "minmax": PowerOfTwoMinMaxObserver},
}
_SCALES = ("any", "power_of_two")
_DTYPES = {INT8: torch.int8, INT16: torch.int16}
_EPSILON = {INT8: 2.0**-12, INT16: 2.0**-20}
"""The smallest scale of activations."""

_LOW = {INT8: INT8.low, INT16: -INT16.high}
"""The smallest activation: that of int16 is as far from zero as the largest."""


@dataclass(frozen=True)
class Specs:
    """Annotations of nodes."""

    activation: Any
    weight: QuantizationSpec
    table: Any
    """Annotates a constant whose values are activations, by its least and largest."""
    is_power_of_two: bool
    type: IntegerType

    def fixed(self, scale: float, zero_point: int) -> FixedQParamsQuantizationSpec:
        """The spec of activations whose parameters are fixed."""
        return _fixed(scale, zero_point, self.type)

    def like(self, x: Node, reader: Node) -> DerivedQuantizationSpec:
        """The spec of a result with the parameters of an input, which alone is observed."""
        observed = self.activation
        return DerivedQuantizationSpec(
            derived_from=[(x, reader)],
            derive_qparams_fn=lambda observers: observers[0].calculate_qparams(),
            dtype=observed.dtype,
            quant_min=observed.quant_min,
            quant_max=observed.quant_max,
            qscheme=observed.qscheme,
        )

    def up_to(self, largest: float) -> FixedQParamsQuantizationSpec:
        """The spec of activations with a zero point of 0 that hold just this magnitude."""
        scale = max(largest / self.type.high, _EPSILON[self.type])
        if self.is_power_of_two:
            scale = float(power_of_two_above(torch.tensor(scale)))
        return _fixed(scale, 0, self.type)


@dataclass(frozen=True)
class Options:
    """The quantizer's; `FixedPointQuantizer` describes them."""

    observer: str
    scales: str
    fraction_bits: int | None
    activations: str
    headroom_bits: int
    weight_bits: int = 8

    def check(self) -> None:
        """Refuses what there is not.

        Raises:
            ValueError: says what there is.
        """
        known = {
            "scales": (self.scales, _SCALES),
            "observer": (self.observer, _OBSERVERS["affine"]),
            "activations": (self.activations, TYPES),
        }
        for name, (value, values) in known.items():
            if value not in values:
                raise ValueError(f"no {name} {value!r}; there are {', '.join(values)}")
        if self.fraction_bits is not None and self.scales != "power_of_two":
            raise ValueError("fraction_bits are of Q formats; give scales='power_of_two', too")
        if self.headroom_bits and self.kind() == "affine":
            raise ValueError("headroom_bits are of zero points that are 0: int16, or Q formats")
        if not 2 <= self.weight_bits <= 8:
            raise ValueError(f"weight_bits is {self.weight_bits}; there are 2 to 8")

    def largest_weight(self) -> int:
        """The smallest is its negative."""
        return int(2 ** (self.weight_bits - 1) - 1)

    def kind(self) -> str:
        """Returns the kind of observers that it needs."""
        if self.scales == "power_of_two":
            return self.scales
        return "affine" if TYPES[self.activations].has_zero_points else "symmetric"


def make_specs(options: Options) -> Specs:
    """Specs of activations, per tensor, and of weights, per output channel.

    Raises:
        ValueError: an option that there is not.
    """
    options.check()
    is_power_of_two = options.scales == "power_of_two"
    kind, bits = TYPES[options.activations], options.fraction_bits
    channels = PowerOfTwoChannelObserver if is_power_of_two else PerChannelMinMaxObserver
    return Specs(
        activation=_observed(options, kind) if bits is None else _fixed(2.0**-bits, 0, kind),
        weight=QuantizationSpec(
            dtype=torch.int8,
            quant_min=-options.largest_weight(),
            quant_max=options.largest_weight(),
            qscheme=torch.per_channel_symmetric,
            ch_axis=0,
            observer_or_fake_quant_ctr=channels.with_args(),
        ),
        table=_observed(replace(options, observer="minmax", headroom_bits=0), kind)
        if bits is None
        else _fixed(2.0**-bits, 0, kind),
        is_power_of_two=is_power_of_two,
        type=kind,
    )


def _observed(options: Options, kind: IntegerType) -> QuantizationSpec:
    is_affine = options.kind() == "affine"
    headroom = {} if is_affine else {"headroom_bits": options.headroom_bits}
    observer = _OBSERVERS[options.kind()][options.observer]
    return QuantizationSpec(
        dtype=_DTYPES[kind],
        quant_min=_LOW[kind],
        quant_max=kind.high,
        qscheme=torch.per_tensor_affine if is_affine else torch.per_tensor_symmetric,
        observer_or_fake_quant_ctr=observer.with_args(eps=_EPSILON[kind], **headroom),
    )


def _fixed(scale: float, zero_point: int, kind: IntegerType) -> FixedQParamsQuantizationSpec:
    return FixedQParamsQuantizationSpec(
        _DTYPES[kind], scale, zero_point, kind.low, kind.high, torch.per_tensor_affine
    )
