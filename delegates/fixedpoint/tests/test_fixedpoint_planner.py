import random
import time

import numpy as np
import pytest

from fixedpoint import planner
from fixedpoint.planner import Block
from fixedpoint.program import Kind, Operation, Program, Tensor


def random_blocks(draw, count):
    blocks = []
    for _ in range(count):
        first = draw.randrange(40)
        last = first + draw.randrange(1, 12)
        blocks.append(Block(planner.align(draw.randrange(1, 5000)), first, last))
    return blocks


def test_blocks_that_live_together_never_overlap():
    draw = random.Random(1)
    for _ in range(50):
        blocks = random_blocks(draw, 25)
        offsets = planner.place(blocks, draw.sample(range(25), 25))
        for i, a in enumerate(blocks):
            for j, b in enumerate(blocks[:i]):
                apart = offsets[i] + a.bytes <= offsets[j] or offsets[j] + b.bytes <= offsets[i]
                assert apart or not (a.first <= b.last and b.first <= a.last)


def test_the_lower_bound_is_the_fullest_step():
    blocks = [Block(64, 0, 2), Block(128, 1, 3), Block(256, 3, 4)]
    assert planner.lower_bound(blocks) == 128 + 256
    assert planner.lower_bound([]) == 0


def chain(kinds):
    """A program of operations on 100 bytes, each on what the one before made."""
    program = Program()
    program.inputs.append(program.add_tensor(Tensor("x", (100,))))
    table = program.add_constant("table", np.zeros(256, np.int8))
    current = program.inputs[0]
    for kind in kinds:
        made = program.add_tensor(Tensor("y", (100,)))
        inputs = (current, table) if kind is Kind.TABLE else (current,)
        program.operations.append(Operation(kind, inputs, made, {"outer": 1, "rank": 2}))
        current = made
    program.outputs.append(current)
    return program


@pytest.mark.parametrize(
    ("kinds", "arena"),
    [
        # The last one writes the output; of the others only tables work in place.
        ([Kind.TABLE] * 4, 128),
        ([Kind.CONCAT] * 4, 256),
        ([Kind.CONCAT, Kind.TABLE, Kind.CONCAT], 128),
    ],
)
def test_elementwise_operations_work_in_place(kinds, arena):
    planned = planner.plan(chain(kinds))
    assert planned.arena_bytes == planned.lower_bound_bytes == arena


def test_an_input_that_is_read_later_is_not_written_over():
    program = chain([Kind.CONCAT, Kind.TABLE, Kind.TABLE])
    first, second = program.operations[0].output, program.operations[1].output
    # A last operation reads the first result once more.
    out = program.add_tensor(Tensor("sum", (100,)))
    program.operations.append(Operation(Kind.ADD, (first, second), out, {"count": 100}))
    planned = planner.plan(program)
    assert planned.offsets[first] != planned.offsets[second]


def random_program(draw, count):
    """Operations that work in place or not, on one or two of all tensors so far."""
    program = Program()
    made = [program.add_tensor(Tensor("x", (100,)))]
    program.inputs.append(made[0])
    table = program.add_constant("table", np.zeros(256, np.int8))
    for _ in range(count):
        kind = draw.choice([Kind.TABLE, Kind.ADD, Kind.CONCAT])
        near = made[-draw.randrange(1, 9) :]
        inputs = (near[0], table if kind is Kind.TABLE else near[-1])
        made.append(program.add_tensor(Tensor("y", (draw.choice([100, 300]),))))
        program.operations.append(Operation(kind, inputs, made[-1], {"outer": 1, "rank": 2}))
    program.outputs.append(made[-1])
    return program


def test_nothing_is_written_over_what_is_read_later():
    draw = random.Random(2)
    for _ in range(20):
        program = random_program(draw, 60)
        offsets = planner.plan(program).offsets
        last = {i: step for step, op in enumerate(program.operations) for i in op.inputs}
        for step, op in enumerate(program.operations):
            for other in offsets.keys() - {op.output}:
                is_made = any(earlier.output == other for earlier in program.operations[:step])
                begin, end = offsets[other], offsets[other] + program.tensors[other].bytes
                if op.output not in offsets or not is_made or last.get(other, -1) < step:
                    continue
                start = offsets[op.output]
                apart = start >= end or start + program.tensors[op.output].bytes <= begin
                in_place = last[other] == step and op.kind is not Kind.CONCAT
                assert apart or (in_place and start == begin and other in op.inputs)


def test_a_program_of_many_operations_is_planned_in_time_that_grows_with_their_number():
    def seconds(count):
        program = chain([Kind.CONCAT, Kind.TABLE] * (count // 2))
        started = time.process_time()
        planned = planner.plan(program)
        assert planned.arena_bytes == planned.lower_bound_bytes
        return time.process_time() - started

    seconds(500)
    # Eight times as many operations take some ten times as long, 512 times by their cube.
    assert seconds(8000) < 60 * seconds(1000)
