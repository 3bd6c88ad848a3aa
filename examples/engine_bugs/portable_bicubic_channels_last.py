"""aten.upsample_bicubic2d.default on executorch/portable.

executorch 1.5.1, torch 2.13.0+cpu.

Bicubic interpolation of a channels_last tensor decomposes to index.Tensor, whose kernel
refuses the order of dimensions at run time.

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        contiguous = torch.ops.aten.contiguous.default(x, memory_format=torch.channels_last)
        upsample_bicubic2d = torch.ops.aten.upsample_bicubic2d.default(contiguous, [3, 3], True)
        contiguous_1 = torch.ops.aten.contiguous.default(upsample_bicubic2d)
        return (contiguous_1,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.randn([1, 3, 2, 2], dtype=torch.float32),)
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
