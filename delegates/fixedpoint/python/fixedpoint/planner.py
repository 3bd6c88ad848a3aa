"""Places tensors in one arena: lifetimes, what may share storage, and where each block goes.

A block is a set of tensors with the same storage: the output of a copy that moves nothing and its
input, or the output of an elementwise operation that takes over an input which dies there.
Algorithms differ in the order in which blocks are placed; each puts a block at the smallest gap
that it fits among those that live at the same time. The lower bound is the largest sum of what
lives at one time; no plan of these blocks is smaller.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate

from fixedpoint.program import Kind, Operation, Program

ALIGNMENT = 64
_ELEMENTWISE = (Kind.ADD, Kind.MUL, Kind.TABLE)
_CLIMB_STEPS = 2000
_CLIMB_WORK = 20_000_000
"""Blocks, and pairs of them that live at one time, that all steps may look at."""


@dataclass(frozen=True)
class Block:
    """Bytes that live from one step to another, both included. Sizes are aligned."""

    bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Plan:
    """Offsets of the arena's tensors by index, its size, the bound and how it was found."""

    offsets: dict[int, int]
    arena_bytes: int
    lower_bound_bytes: int
    sum_bytes: int
    algorithm: str

    def describe(self) -> str:
        """One line for people."""
        bound = max(1, self.lower_bound_bytes)
        return (
            f"arena {self.arena_bytes} bytes by {self.algorithm}, lower bound {bound}"
            f" ({self.arena_bytes / bound:.3f}), without sharing {self.sum_bytes}"
        )


def align(value: int) -> int:
    """The next multiple of the alignment."""
    return -(-value // ALIGNMENT) * ALIGNMENT


def is_plain_copy(program: Program, operation: Operation) -> bool:
    """True if a copy leaves every byte where it is: a reshape."""
    return operation.kind is Kind.COPY and operation.attributes["rank"] == 1 and (
        operation.attributes["offset"] == 0 and operation.attributes["stride0"] == 1
    )  # fmt: skip


def plan(program: Program) -> Plan:
    """The best plan of several algorithms; stops at the first that reaches the lower bound."""
    lives = _lifetimes(program)
    groups = _share_storage(program, lives)
    blocks = {root: _block_of(program, lives, members) for root, members in groups.items()}
    roots, sizes = list(blocks), list(blocks.values())
    bound = lower_bound(sizes)
    best, name = _search(sizes, bound)
    offsets = {t: best[i] for i, root in enumerate(roots) for t in groups[root]}
    total = sum(block.bytes for block in sizes)
    return Plan(offsets, arena_size(sizes, best), bound, total, name)


def lower_bound(blocks: Sequence[Block]) -> int:
    """The largest sum of sizes that live at one step."""
    changes: dict[int, int] = defaultdict(int)
    for block in blocks:
        changes[block.first] += block.bytes
        changes[block.last + 1] -= block.bytes
    return max(accumulate(changes[step] for step in sorted(changes)), default=0)


def arena_size(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    """The end of the block that reaches farthest."""
    return max((o + b.bytes for o, b in zip(offsets, blocks, strict=True)), default=0)


def place(
    blocks: Sequence[Block], order: Sequence[int], neighbours: Sequence[Sequence[int]] | None = None
) -> list[int]:
    """Offsets, placing blocks in the given order, each in the smallest gap that takes it."""
    neighbours = neighbours_of(blocks) if neighbours is None else neighbours
    offsets = [-1] * len(blocks)
    for index in order:
        taken = sorted(
            (offsets[i], offsets[i] + blocks[i].bytes) for i in neighbours[index] if offsets[i] >= 0
        )
        offsets[index] = _smallest_gap(taken, blocks[index].bytes)
    return offsets


def neighbours_of(blocks: Sequence[Block]) -> list[list[int]]:
    """Lists for each block those that live at the same time."""
    neighbours: list[list[int]] = [[] for _ in blocks]
    living: list[tuple[int, int]] = []
    for index in sorted(range(len(blocks)), key=lambda i: blocks[i].first):
        while living and living[0][0] < blocks[index].first:
            heappop(living)
        for _, other in living:
            neighbours[index].append(other)
            neighbours[other].append(index)
        heappush(living, (blocks[index].last, index))
    return neighbours


def _smallest_gap(taken: Sequence[tuple[int, int]], needed: int) -> int:
    best: tuple[int, int] | None = None
    end = 0
    for start, stop in taken:
        gap = start - end
        if gap >= needed and (best is None or gap < best[0]):
            best = (gap, end)
        end = max(end, stop)
    return end if best is None else best[1]


def _search(blocks: Sequence[Block], bound: int) -> tuple[list[int], str]:
    indices = range(len(blocks))
    orders = {
        "greedy by size": sorted(indices, key=lambda i: (-blocks[i].bytes, blocks[i].first)),
        "greedy by lifetime": sorted(
            indices, key=lambda i: (blocks[i].first - blocks[i].last, -blocks[i].bytes)
        ),
        "greedy by time": sorted(indices, key=lambda i: (blocks[i].first, -blocks[i].bytes)),
    }
    best: tuple[list[int], str] = ([], "nothing to place")
    neighbours = neighbours_of(blocks)
    for name, order in orders.items():
        offsets = place(blocks, order, neighbours)
        if not best[0] or arena_size(blocks, offsets) < arena_size(blocks, best[0]):
            best = (offsets, name)
        if arena_size(blocks, best[0]) <= bound:
            return best
    return _climb(blocks, orders["greedy by size"], neighbours, best, bound)


def _climb(
    blocks: Sequence[Block],
    order: list[int],
    neighbours: Sequence[Sequence[int]],
    best: tuple[list[int], str],
    bound: int,
) -> tuple[list[int], str]:
    """Swaps pairs of the order and keeps what is no worse. Deterministic.

    Large programs get fewer steps, so that the time is bounded.
    """
    draw = random.Random(1)
    size = arena_size(blocks, best[0])
    work = len(blocks) + sum(map(len, neighbours))
    steps = min(_CLIMB_STEPS, _CLIMB_WORK // max(1, work))
    for _ in range(steps if len(order) > 1 else 0):
        i, j = draw.sample(range(len(order)), 2)
        order[i], order[j] = order[j], order[i]
        offsets = place(blocks, order, neighbours)
        reached = arena_size(blocks, offsets)
        if reached > size:
            order[i], order[j] = order[j], order[i]
        elif reached < size:
            best, size = (offsets, "hill climbing"), reached
        if size <= bound:
            break
    return best


def block_of(program: Program, members: Sequence[int]) -> Block:
    """The size and lifetime that tensors of the arena have together."""
    return _block_of(program, _lifetimes(program), members)


def _lifetimes(program: Program) -> dict[int, tuple[int, int]]:
    """The steps that make the arena's tensors and that read them last."""
    outside = {*program.inputs, *program.outputs}
    lives: dict[int, tuple[int, int]] = {}
    for step, operation in enumerate(program.operations):
        for index in operation.given_inputs():
            if index in lives:
                lives[index] = (lives[index][0], step)
        if operation.output not in outside:
            lives[operation.output] = (step, step)
    return lives


def _share_storage(program: Program, lives: Mapping[int, tuple[int, int]]) -> dict[int, list[int]]:
    """Tensors by the root of their storage."""
    root: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    last: dict[int, int] = {}
    for step, operation in enumerate(program.operations):
        output = operation.output
        if output not in lives:
            continue
        root[output] = output
        for source in _sources(program, operation):
            if source not in root or program.tensors[source].bytes != program.tensors[output].bytes:
                continue
            if last[root[source]] <= step or operation.kind is Kind.COPY:
                root[output] = root[source]
                break
        members.setdefault(root[output], []).append(output)
        last[root[output]] = max(last.get(root[output], 0), lives[output][1])
    return members


def _sources(program: Program, operation: Operation) -> tuple[int, ...]:
    """Inputs whose storage the output may take over."""
    if operation.kind in _ELEMENTWISE:
        return operation.given_inputs()[: 1 if operation.kind is not Kind.ADD else 2]
    return operation.given_inputs() if is_plain_copy(program, operation) else ()


def _block_of(
    program: Program, lives: Mapping[int, tuple[int, int]], members: Sequence[int]
) -> Block:
    first, last = (min(lives[t][0] for t in members), max(lives[t][1] for t in members))
    return Block(align(max(program.tensors[t].bytes for t in members)), first, last)
