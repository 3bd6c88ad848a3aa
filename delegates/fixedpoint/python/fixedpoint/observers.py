"""Observers of symmetric ranges: zero points are 0; in Q formats scales are powers of two."""

from typing import Any

import torch
from torchao.quantization.pt2e import HistogramObserver, MinMaxObserver, PerChannelMinMaxObserver


def power_of_two_above(scales: torch.Tensor) -> torch.Tensor:
    """The smallest power of two that is no less than each scale: nothing observed is cut off."""
    mantissa, exponent = torch.frexp(scales)
    exponent = torch.where(mantissa == 0.5, exponent - 1, exponent)
    return torch.ldexp(torch.ones_like(scales), exponent)


class _Headroom:
    """Leaves bits above the observed range, for inputs beyond those of the calibration."""

    def __init__(self, *args: Any, headroom_bits: int = 0, **options: Any) -> None:
        super().__init__(*args, **options)
        self._factor = 2.0**headroom_bits

    def calculate_qparams(self) -> Any:
        """Scale and zero point."""
        scale, zero_point = super().calculate_qparams()  # type: ignore[misc]
        return scale * self._factor, zero_point


class SymmetricHistogramObserver(_Headroom, HistogramObserver):  # type: ignore[misc]
    """A symmetric histogram with headroom."""


class SymmetricMinMaxObserver(_Headroom, MinMaxObserver):  # type: ignore[misc]
    """The observed range, symmetric, with headroom."""


class PowerOfTwoHistogramObserver(SymmetricHistogramObserver):
    """A symmetric histogram, its scale taken to the next power of two."""

    def calculate_qparams(self) -> Any:
        """Scale and zero point."""
        scale, zero_point = super().calculate_qparams()
        return power_of_two_above(scale), torch.zeros_like(zero_point)


class PowerOfTwoMinMaxObserver(SymmetricMinMaxObserver):
    """The observed range, its scale taken to the next power of two."""

    def calculate_qparams(self) -> Any:
        """Scale and zero point."""
        scale, zero_point = super().calculate_qparams()
        return power_of_two_above(scale), torch.zeros_like(zero_point)


class PowerOfTwoChannelObserver(PerChannelMinMaxObserver):  # type: ignore[misc]
    """The range of each channel, its scale taken to the next power of two."""

    def calculate_qparams(self) -> Any:
        """Scales and zero points."""
        scale, zero_point = super().calculate_qparams()
        return power_of_two_above(scale), torch.zeros_like(zero_point)
