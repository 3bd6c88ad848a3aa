"""Families of torchvision, with small images."""

from functools import partial
from typing import Any

import torch

from assay.conformance.model_zoo.entry import Entry
from assay.toolchain import compat
from assay.toolchain.tensors import Sample

SIZES = {
    "alexnet": 64,
    "convnext_tiny": 64,
    "densenet121": 64,
    "efficientnet_b0": 64,
    "googlenet": 64,
    "inception_v3": 96,
    "mnasnet1_0": 64,
    "mobilenet_v2": 64,
    "mobilenet_v3_small": 64,
    "regnet_y_400mf": 64,
    "resnet18": 64,
    "resnext50_32x4d": 64,
    "shufflenet_v2_x1_0": 64,
    "squeezenet1_1": 64,
    "swin_v2_t": 64,
    "vgg11": 64,
    "vit_b_16": 224,
}
"""Networks and the side of the images that they are run with."""

_QUICK = ("mobilenet_v3_small", "resnet18", "shufflenet_v2_x1_0")
_OWN_HEADS = ("googlenet", "inception_v3")


def _make(name: str, size: int) -> tuple[torch.nn.Module, Sample]:
    compat.prepare_torchvision()
    import torchvision.models

    options: dict[str, Any] = {"num_classes": 10}
    if name in _OWN_HEADS:
        options |= {"init_weights": True, "aux_logits": False}
    module = torchvision.models.get_model(name, weights=None, **options)
    return module, (torch.zeros(1, 3, size, size),)


ENTRIES = [
    Entry(
        f"torchvision_{name}",
        partial(_make, name, size),
        tier="quick" if name in _QUICK else "full",
        cost=30.0,
        needs_weight_init=True,
    )
    for name, size in SIZES.items()
]
