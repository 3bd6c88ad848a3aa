"""The partitioner keeps pixel_shuffle whole and then leaves it.

aten.pixel_shuffle.default/float32/pixel_shuffle-0-size_one on executorch/openvino-fp32.

executorch 1.5.1, torch 2.13.0+cpu.

aot_error: lower failed: RuntimeError: Node aten_pixel_shuffle_default with op <EdgeOpOverload:
aten.pixel_shuffle.default>: schema = aten::pixel_shuffle(Tensor self, int upscale_factor) ->
Tensor was not decomposed or delegated. This op was registered by the partitioner
OpenvinoPartitioner to not be decomposed.

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
        pixel_shuffle = torch.ops.aten.pixel_shuffle.default(x, 1)
        return (pixel_shuffle,)


torch.manual_seed(0)
net = Net().eval()
inputs = (torch.tensor([[[0.0]]], dtype=torch.float32),)
try:
    exported = torch.export.export(net, inputs)
    edge = to_edge_transform_and_lower(
        exported,
        partitioner=[OpenvinoPartitioner([CompileSpec("device", b"CPU")])],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    program = edge.to_executorch().buffer
    method = Runtime.get().load_program(program).load_method("forward")
    found = method.execute(inputs)
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(0 if "was not decomposed or delegated" in " ".join(str(error).split()) else 1)
sys.exit(1)
