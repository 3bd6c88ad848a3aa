"""LiteRT's interpreter, to look into programs and to execute them ahead of time."""

from pathlib import Path
from typing import Any, Literal

from assay.toolchain.packages import import_package

Kernels = Literal["AUTO", "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "BUILTIN_REF"]
"""LiteRT's name of the kernels: with XNNPACK, its own optimized ones, its reference kernels."""


def make_interpreter(model: bytes | Path, kernels: Kernels = "AUTO") -> Any:
    """An interpreter of the program on one thread, its tensors allocated."""
    litert = import_package("ai_edge_litert.interpreter", wanted_by="LiteRT's format")
    content = model.read_bytes() if isinstance(model, Path) else model
    interpreter = litert.Interpreter(
        model_content=content,
        num_threads=1,
        experimental_op_resolver_type=litert.OpResolverType[kernels],
    )
    interpreter.allocate_tensors()
    return interpreter
