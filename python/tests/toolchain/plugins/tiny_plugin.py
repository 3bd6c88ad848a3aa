"""A plug-in outside of the package: one model, one recipe."""


def tiny_net(width: int = 4):
    """A convolution and a ReLU."""
    import torch

    layers = [torch.nn.Conv2d(3, width, 3, padding=1), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers), (torch.zeros(1, 3, 8, 8),)


models = {"plugin:tiny": tiny_net}
recipes = [
    {
        "name": "plugin/xnnpack-per-op",
        "description": "XNNPACK, one delegate an operator",
        "quantization": None,
        "lowering": {"partitioner": "xnnpack", "options": {"per_op_mode": True}},
    }
]
