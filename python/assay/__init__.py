"""Measures, evaluates and conformance-tests on-device AI models on every inference engine.

    import assay

    with assay.load("torchvision:mobilenet_v2", recipe="executorch/xnnpack-int8") as f:
        y = f(x)
    report = assay.bench("model.pte", iterations=100)
    report = assay.evaluate("torchvision:mobilenet_v2", recipe="executorch/xnnpack-int8")
    report = assay.run("specs/smoke.json")

docs/python.md has more. The import itself loads neither PyTorch nor the extension module.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assay._errors import AssayError
    from assay._load import LoadedProgram, Signature, load
    from assay._measure import bench, evaluate, run
    from assay._report import Report
    from assay._tensors import TensorSpec

_HOMES = {
    "AssayError": "_errors",
    "LoadedProgram": "_load",
    "Report": "_report",
    "Signature": "_load",
    "TensorSpec": "_tensors",
    "bench": "_measure",
    "evaluate": "_measure",
    "load": "_load",
    "run": "_measure",
}

__all__ = [
    "AssayError",
    "LoadedProgram",
    "Report",
    "Signature",
    "TensorSpec",
    "bench",
    "evaluate",
    "load",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    return getattr(importlib.import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
