"""Values of tensor arguments: in the operator's domain, or at the edges of the type.

They depend on numpy's Philox generator only, keyed by seed, sample and place.
"""

import hashlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from assay.conformance.calls import TensorSpec
from assay.toolchain.dtypes import DTYPES
from assay.toolchain.tensors import tensor_from_array

EDGE_EVERY = 2
"""Share of special values in edge cases: each second element; the others are drawn."""

_INTEGERS = {"bool": (0, 2)} | {f"uint{bits}": (0, 16) for bits in (8, 16, 32, 64)}
_AWAY = 0.25
_SPREAD = 4.0
"""Distinct floats lie in [-4, 4)."""

_PLACES = 64
"""Places of that grid at least, so that few values are not the same ones in every sample."""


def draw_tensor(
    spec: TensorSpec, *, seed: int, sample: int, place: int, values: str = "normal"
) -> torch.Tensor:
    """A contiguous tensor for the argument number `place`; constants are the same in all samples.

    `values`: "normal" or "edge". Data that is given is the same in all samples.
    """
    if spec.data is not None:
        return torch.tensor(_exact(spec)).to(DTYPES[spec.dtype]).reshape(spec.shape)
    stream = "constant" if spec.is_constant else f"{seed}/{sample}"
    key = hashlib.sha256(f"assay/conform/1/{stream}/{place}".encode()).digest()[:16]
    random = np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
    drawn = _draw_varied(spec, random, sample) if spec.order == "varied" else _draw(spec, random)
    laid_out = np.ascontiguousarray(drawn).reshape(spec.shape)  # Else a scalar has a dimension.
    tensor = tensor_from_array(laid_out).to(DTYPES[spec.dtype])
    if values == "edge" and not spec.is_constant:
        return put_edges(tensor, spec, first=7 * sample + place)
    return tensor


def _draw_varied(spec: TensorSpec, random: np.random.Generator, sample: int) -> npt.NDArray[Any]:
    """Whole numbers: in turn zeros, zeros among others, no zeros. No reduction of all is alike."""
    low, high = ((0, 1), (0, 4), (1, 8))[sample % 3]
    drawn = random.integers(low, high, spec.shape, dtype=np.int64)
    return drawn != 0 if spec.dtype == "bool" else drawn


def _exact(spec: TensorSpec) -> npt.NDArray[Any]:
    """The given elements in the widest type of their kind, so that none is rounded twice."""
    is_floating = DTYPES[spec.dtype].is_floating_point
    return np.array(spec.data, dtype=np.float64 if is_floating else np.int64)


def _draw(spec: TensorSpec, random: np.random.Generator) -> npt.NDArray[Any]:
    drawn = _draw_any(spec, random)
    if spec.order != "trues":
        return drawn
    size = math.prod(spec.shape)
    is_kept = (random.permutation(size) < (size + 1) // 2).reshape(spec.shape)
    return is_kept if spec.dtype == "bool" else np.where(is_kept, _not_zero(drawn), 0)


def _not_zero(drawn: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.where(drawn == 0, 1, drawn)


def _draw_any(spec: TensorSpec, random: np.random.Generator) -> npt.NDArray[Any]:
    if spec.dtype == "bool":
        return random.random(spec.shape) < 0.5
    if DTYPES[spec.dtype].is_floating_point:
        return _draw_float(spec, random)
    if spec.order == "distinct":
        return _draw_distinct(spec, random)
    low, high = _integer_range(spec)
    if spec.order == "coarse":
        low, high = max(low, -1), min(high, 3)
    drawn = random.integers(low, high, spec.shape, dtype=np.int64)
    if spec.order == "sorted":
        drawn = np.sort(drawn, axis=None)
        drawn[:1] = low
        return drawn.reshape(spec.shape)
    return np.where(drawn == 0, high - 1, drawn) if spec.order == "away" else drawn


def _draw_distinct(spec: TensorSpec, random: np.random.Generator) -> npt.NDArray[Any]:
    """Integers, no two alike; where the range has too few, no two along any dimension."""
    low, high = _integer_range(spec)
    size = math.prod(spec.shape)
    if spec.high is None and size > high - low:
        limits = torch.iinfo(DTYPES[spec.dtype])
        low = max(limits.min, -(size // 2))
        high = min(limits.max + 1, low + size)
    count = high - low
    if size <= count:
        return random.permutation(count)[:size].reshape(spec.shape) + low
    along = (random.permutation(max(count, length))[:length] for length in spec.shape)
    return np.asarray(sum(np.ix_(*along)) % count + low)


def _draw_float(spec: TensorSpec, random: np.random.Generator) -> npt.NDArray[Any]:
    if spec.order == "distinct":
        grid = _grid(spec)
        return grid[random.permutation(len(grid))[: math.prod(spec.shape)]].reshape(spec.shape)
    if spec.low is not None and spec.high is not None:
        return spec.low + (spec.high - spec.low) * random.random(spec.shape)
    drawn = random.standard_normal(spec.shape)
    if spec.order == "coarse":
        return np.round(drawn)
    return drawn + np.copysign(_AWAY, drawn) if spec.order == "away" else drawn


def _grid(spec: TensorSpec) -> npt.NDArray[Any]:
    """Values that the type tells apart, one for each element at least.

    Equal steps; where the type is too coarse for them, its largest numbers below _SPREAD.
    """
    dtype = DTYPES[spec.dtype]
    places = max(math.prod(spec.shape), _PLACES)
    step = 2.0 ** math.floor(math.log2(2 * _SPREAD / places))
    if _SPREAD / step <= 2 / torch.finfo(dtype).eps:
        return np.arange(places) * step - _SPREAD
    first = torch.tensor(_SPREAD, dtype=dtype).view(torch.int16)
    below = (first - 1 - torch.arange((places + 1) // 2, dtype=torch.int16)).view(dtype)
    return np.asarray(torch.cat([below, -below]).double())


def _integer_range(spec: TensorSpec) -> tuple[int, int]:
    """[low, high): a domain of floats is widened to the whole numbers around it."""
    low, high = _INTEGERS.get(spec.dtype, (-8, 8))
    if spec.low is not None:
        low = math.floor(spec.low)
    if spec.high is not None:
        is_whole = float(spec.high).is_integer()
        high = int(spec.high) if is_whole else math.ceil(spec.high) + 1
    low = max(low, 0) if spec.dtype.startswith("uint") else low
    return low, max(high, low + 1)


def edge_values(dtype: torch.dtype) -> list[float]:
    """The special values of a type: signed zeros, denormals, extremes, NaN, infinities."""
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        return [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
    info = torch.finfo(dtype)
    least = info.smallest_normal * info.eps
    positive = [0.0, math.inf, info.max, info.smallest_normal, least, 1.0, 1.0 + info.eps, 0.5]
    return [math.nan, *(value for one in positive for value in (one, -one))]


def put_edges(tensor: torch.Tensor, spec: TensorSpec, *, first: int) -> torch.Tensor:
    """The tensor with special values in each second place, beginning at number `first`.

    Indices and other arguments with a range of their own stay as they are.
    """
    if tensor.dtype == torch.bool or (spec.low is not None and not tensor.is_floating_point()):
        return tensor
    edges = edge_values(tensor.dtype)
    flat = tensor.clone().reshape(-1)
    for number, place in enumerate(range(first % EDGE_EVERY, flat.numel(), EDGE_EVERY)):
        flat[place] = edges[(first + number) % len(edges)]
    return flat.reshape(tensor.shape)
