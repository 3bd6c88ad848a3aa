"""Of tensors without dimensions lowering reads where nothing is, and its process ends.

aten.expand_as.default/float32/expand_as-1 on executorch/openvino-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

crashed: died by SIGSEGV in stage lower

The exit code is 0 if the failure is there.
"""

import subprocess
import sys

import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x, y):
        expand_as = torch.ops.aten.expand_as.default(x, y)
        return (expand_as,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor(0.0, dtype=torch.float32), torch.tensor(0.0, dtype=torch.float32))
if "--run" not in sys.argv:
    try:
        ran = subprocess.run([sys.executable, __file__, "--run"], timeout=600)
    except subprocess.TimeoutExpired:
        sys.exit(1)
    sys.exit(0 if ran.returncode < 0 else 1)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
found = method.execute(inputs)
