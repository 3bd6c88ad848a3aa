"""A small network, and ways to make one of its layers wrong: of the backend and of quantization.

The layers are distinguished by the shapes of their weights, which no two share.
"""

import torch
from torch import nn

MIDDLE = (12, 8, 3, 3)
"""The weight of the layer that is made wrong, `middle.0`."""


class Net(nn.Module):
    """A stem, a residual block, a layer in the middle, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.side = nn.Sequential(nn.Conv2d(8, 8, 1), nn.Hardswish(inplace=True))
        self.middle = nn.Sequential(nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(inplace=True))
        self.late = nn.Conv2d(12, 16, 3, stride=2)
        self.head = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        x = x + self.side(x)
        x = self.late(self.middle(x))
        return self.head(x.mean((2, 3)))


def net():
    torch.manual_seed(3)
    return Net().eval(), (torch.randn(1, 3, 12, 12),)


def tampering_partitioner():
    """XNNPACK's, whose delegates compute the layer in the middle with its channels reversed.

    The process that lowers ends with its job, and the change of the backend with it.
    """
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.backends.xnnpack.xnnpack_preprocess import XnnpackBackend

    preprocess = XnnpackBackend.preprocess

    def tampering(edge_program, compile_specs):
        weights = edge_program.state_dict
        for name, tensor in weights.items():
            if tuple(tensor.shape) == MIDDLE:
                weights[name] = tensor.flip(0).contiguous()
        return preprocess(edge_program, compile_specs)

    XnnpackBackend.preprocess = staticmethod(tampering)
    return XnnpackPartitioner()


def coarse_quantizer():
    """XNNPACK's, with a range eight times too wide for the result of the layer in the middle."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e import HistogramObserver
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    class Coarse(HistogramObserver):
        def calculate_qparams(self):
            scale, zero_point = super().calculate_qparams()
            return scale * 8, zero_point

    class Quantizer(XNNPACKQuantizer):
        def annotate(self, model):
            model = super().annotate(model)
            for node in model.graph.nodes:
                if "relu" in str(node.target) and self._is_middle(node):
                    node.meta["quantization_annotation"].output_qspec = QuantizationSpec(
                        dtype=torch.int8,
                        observer_or_fake_quant_ctr=Coarse.with_args(eps=2**-12),
                        quant_min=-128,
                        quant_max=127,
                        qscheme=torch.per_tensor_affine,
                    )
            return model

        @staticmethod
        def _is_middle(node):
            weight = node.all_input_nodes[0].args[1] if node.all_input_nodes[0].args[1:] else None
            value = getattr(weight, "meta", {}).get("val")
            return value is not None and tuple(value.shape) == MIDDLE

    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=False)
    return Quantizer().set_global(config)
