"""aten.to.device on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

A conversion with non_blocking=True, which means nothing on a CPU, is refused at run time.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        to = torch.ops.aten.to.device(x, torch.device("cpu"), torch.float64, True)
        return (to,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor([-0.25376058], dtype=torch.float32),)
try:
    exported = torch.export.export(net, inputs)
    edge = to_edge_transform_and_lower(
        exported,
        partitioner=None,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    program = edge.to_executorch().buffer
    method = Runtime.get().load_program(program).load_method("forward")
    found = method.execute(inputs)
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if str(error).replace("0x:", "0x").endswith("0x12") else 1)
sys.exit(1)
