"""One operation as its checks see it: inputs, type, the proofs that kinds share."""

import math
from collections.abc import Sequence

import numpy as np

from fixedpoint.integer_types import INT8, TYPES, IntegerType
from fixedpoint.numbers import MAX_SHIFT, MULTIPLIER_BITS
from fixedpoint.program import MAX_RANK, ROUNDED, Kind, Operation, Program, Rounding, Tensor

MAX_BYTES = 1 << 40
_MAX_BIAS = 1 << 62


class ProgramError(ValueError):
    """A program that no runtime loads; the text says why."""


def require(is_so: bool, otherwise: str) -> None:
    """Refuses a program where something is not so."""
    if not is_so:
        raise ProgramError(otherwise)


class Checked:
    """An operation, and what its checks ask of it."""

    def __init__(self, program: Program, operation: Operation) -> None:
        self.program = program
        self.operation = operation
        self.made = program.tensors[operation.output]
        first = self.input(0)
        decides = first if operation.kind is Kind.DEQUANTIZE else self.made
        self.type = INT8 if decides is None else TYPES.get(decides.dtype, INT8)

    def __getitem__(self, name: str) -> int:
        return self.operation.attributes[name]

    def input(self, position: int) -> Tensor | None:
        """The tensor at a position; None if there is none."""
        inputs = self.operation.inputs
        index = inputs[position] if position < len(inputs) else None
        return None if index is None else self.program.tensors[index]

    def is_operand(self, position: int, count: int) -> bool:
        """True if an input holds so many activations of the operation's type."""
        tensor = self.input(position)
        return tensor is not None and tensor.dtype == self.type.name and tensor.elements == count

    def is_output(self, count: int) -> bool:
        """True if the output does."""
        return self.made.dtype == self.type.name and self.made.elements == count

    def constant(self, position: int, dtype: str, count: int) -> np.ndarray | None:
        """The content if it is a constant of this type and size, else None."""
        tensor = self.input(position)
        if tensor is None or tensor.data is None:
            return None
        return tensor.data if tensor.dtype == dtype and tensor.elements == count else None

    def get_constant(self, position: int, dtype: str, count: int, what: str) -> np.ndarray:
        """`constant`, which has to be there."""
        content = self.constant(position, dtype, count)
        if content is None:
            raise ProgramError(f"its constants do not fit its {what}")
        return content

    def check_clamp(self) -> None:
        """Bounds are a range of the type; the rounding is one that the kind has."""
        low, high = self.operation.low, self.operation.high
        kind = self.type
        require(kind.low <= low <= high <= kind.high, "its bounds are no range of its type")
        known = tuple(Rounding) if self.operation.kind in ROUNDED else (Rounding.HALF_UP,)
        is_known = self.operation.rounding in known
        require(is_known, "the runtime does not know its rounding")

    def check_requantization(self, largest: int) -> None:
        """The requantization of accumulators up to `largest` overflows nowhere."""
        self.check_clamp()
        op = self.operation
        safe = is_safe(self.type, largest, op.multipliers[0], op.bias, op.shift)
        require(safe, "its requantization may overflow")

    def has_zero_point(self, name: str) -> bool:
        """True if an attribute is a zero point of the type."""
        value, kind = self[name], self.type
        return kind.low <= value <= kind.high if kind.has_zero_points else value == 0

    def check_zero_points(self) -> None:
        """Those of both operands are of the type."""
        are_known = self.has_zero_point("zero_point_a") and self.has_zero_point("zero_point_b")
        require(are_known, "a zero point of its operands is none of its type")

    def check_reads(self, source: Tensor, count: int) -> None:
        """The strided read gives so many elements, all of them within the source."""
        rank, last = self["rank"], self["offset"]
        require(1 <= rank <= MAX_RANK and last >= 0, "it has no rank that the runtime copies")
        dims = [self[f"dim{i}"] for i in range(rank)]
        require(product(dims) == count, "its output has another size")
        for i, dim in enumerate(dims):
            require(self[f"stride{i}"] >= 0, "it reads backwards")
            last += (dim - 1) * self[f"stride{i}"]
        require(last < source.elements, "it reads past the end of its input")


def is_safe(kind: IntegerType, largest: int, multiplier: int, bias: int, shift: int) -> bool:
    """True if a requantization of accumulators up to `largest` stays in the type's arithmetic."""
    return (
        largest < 1 << kind.accumulator_bits
        and 0 <= multiplier < 1 << MULTIPLIER_BITS
        and kind.least_shift <= shift <= MAX_SHIFT
        and abs(bias) <= _MAX_BIAS
    )


def product(factors: Sequence[int]) -> int:
    """The product, or -1 where a factor is not positive or it is larger than any tensor."""
    made = math.prod(factors)
    return made if min(factors) >= 1 and made <= MAX_BYTES else -1
