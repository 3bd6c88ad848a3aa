"""How much memory ExecuTorch's own planner takes for the tensors of a program."""

import torch
from executorch.exir.memory_planning import greedy
from executorch.exir.tensor import TensorSpec

from fixedpoint import planner
from fixedpoint.program import Program


def executorch_arena_bytes(program: Program) -> int:
    """Bytes of its greedy algorithm, at the delegate's alignment; no two tensors share storage."""
    specs = set()
    for tensor in planner.plan(program).offsets:
        block = planner.block_of(program, [tensor])
        spec = TensorSpec(torch.uint8, torch.Size([block.bytes]))
        spec.lifetime = [block.first, block.last]
        specs.add(spec)
    nothing = torch.fx.GraphModule({}, torch.fx.Graph())
    return int(max(greedy(planner.ALIGNMENT, specs, nothing, None).bufsizes, default=0))
