"""Fuses operations of a lowered program; the results keep every bit."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from fixedpoint.integer_types import INT8
from fixedpoint.program import Kind, Operation, Program


def fuse_tables(program: Program) -> Program:
    """A table that alone reads a convolution becomes part of it: the same bits, one pass less."""
    kept: list[Operation] = []
    readers = Counter(index for op in program.operations for index in set(op.given_inputs()))
    readers.update(set(program.outputs))
    made: dict[int | None, int] = {}
    for operation in program.operations:
        source = operation.inputs[0]
        before = made.get(source)
        if (
            operation.kind is Kind.TABLE
            and before is not None
            and _is_fusable(program, readers, source)
        ):
            fused = kept[before]
            kept[before] = replace(
                fused, inputs=(*fused.inputs, operation.inputs[1]), output=operation.output,
                nodes=fused.nodes + operation.nodes, handles=fused.handles + operation.handles,
            )  # fmt: skip
        else:
            if operation.kind is Kind.CONV2D:
                made[operation.output] = len(kept)
            kept.append(operation)
    return _without_unused(replace(program, operations=kept))


def _is_fusable(program: Program, readers: Mapping[int, int], index: int | None) -> bool:
    """Tables of int16 are interpolated: they stay by themselves."""
    assert index is not None
    return readers[index] == 1 and program.tensors[index].dtype == INT8.name


def _without_unused(program: Program) -> Program:
    """Drops tensors that nothing reads or makes any more."""
    used = {*program.inputs, *program.outputs}
    for op in program.operations:
        used.update((*op.given_inputs(), op.output))
    place = {old: new for new, old in enumerate(sorted(used))}
    operations = [
        replace(
            op, output=place[op.output],
            inputs=tuple(None if i is None else place[i] for i in op.inputs),
        )
        for op in program.operations
    ]  # fmt: skip
    return Program(
        [program.tensors[old] for old in sorted(used)],
        operations,
        [place[i] for i in program.inputs],
        [place[i] for i in program.outputs],
    )
