"""With ceil_mode the last window is divided by its full size.

aten.avg_pool1d.default/float32/avg_pool1d-6 on executorch/openvino-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

fail_numeric: output output0: error_bound_ratio 1.372e+04 (<= 1), sample 0, element [0, 1]:
0.285714298, expected 0.4 ± 8.33e-06

The exit code is 0 if the failure is there.
"""

import sys

import torch
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec
from executorch.runtime import Runtime


class Net(torch.nn.Module):
    def forward(self, x):
        avg_pool1d = torch.ops.aten.avg_pool1d.default(x, [7], [3], [3], True)
        return (avg_pool1d,)


net = Net().eval()
inputs = (torch.tensor([[1.0, 1.0]], dtype=torch.float32),)
expected = (torch.tensor([[0.2857142857142857, 0.4]], dtype=torch.float64),)
limits = (torch.tensor([[5.948422690694868e-06, 8.330516663561228e-06]], dtype=torch.float64),)
exported = torch.export.export(net, inputs)
edge = to_edge_transform_and_lower(
    exported,
    partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
    compile_config=EdgeCompileConfig(_check_ir_validity=False),
)
program = edge.to_executorch().buffer
method = Runtime.get().load_program(program).load_method("forward")
found = method.execute(inputs)
wrong = False
for found_one, wanted, limit in zip(found, expected, limits, strict=True):
    print("found", found_one.tolist(), "expected", wanted.tolist())
    a, b = found_one.double(), wanted.double()
    if a.shape != b.shape:
        sys.exit(0)
    right = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= limit)
    wrong |= not bool(right.all())
sys.exit(0 if wrong else 1)
