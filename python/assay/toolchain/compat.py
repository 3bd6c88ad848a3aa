"""Workarounds that let the toolchain's packages import and fork."""

import importlib.util
import warnings
from pathlib import Path
from typing import Any

_NMS = "{}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_kept: list[Any] = []


def prepare_torch() -> None:
    """Keeps torch at one thread, before anything ran in parallel.

    A forked child hangs in its first parallel operator when the parent's thread pool had started.
    """
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    warnings.filterwarnings("ignore", category=FutureWarning)
    warnings.filterwarnings("ignore", category=DeprecationWarning)


def prepare_torchvision() -> None:
    """Lets torchvision's model code import where its compiled operators do not load.

    The wheel is built against another torch (CUDA), and the import then fails on registering shape
    functions for the missing nms operators. Their schemas are enough: no classification model
    calls them.
    """
    import torch

    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None or _kept:
        return
    try:
        torch.ops.load_library(str(Path(spec.origin).parent / "_C.so"))
    except OSError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(_NMS.format(name))
        _kept.append(library)
