"""Unfolding a tensor without dimensions ends the process.

aten.unfold.default/float32/unfold-0 on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

crashed: ended by SIGABRT in stage first; its last words: error: executorch: In function size(),
assert failed (dim < dim_ && dim >= 0): Dimension out of range (expected to be in range of [0,
-1], but got 0

The exit code is 0 if the failure is there.
"""

import subprocess
import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        unfold = torch.ops.aten.unfold.default(x, 0, 1, 1)
        return (unfold,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor(0.0, dtype=torch.float32),)
if "--run" not in sys.argv:
    try:
        ran = subprocess.run([sys.executable, __file__, "--run"], timeout=600)
    except subprocess.TimeoutExpired:
        sys.exit(1)
    sys.exit(0 if ran.returncode < 0 else 1)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=None,
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
found = method.execute(inputs)
