"""Qualcomm's QNN libraries: where they are, loading them, and the SoCs that they compile for.

They come from an SDK (QNN_SDK_ROOT) or from the package onnxruntime-qnn, which `make qnn` installs.
"""

import ctypes
import importlib.util
import os
from pathlib import Path
from typing import Any

from assay.toolchain.errors import MissingDependency, RequestError
from assay.toolchain.suggest import unknown_name

DEFAULT_SOC = "SM8650"
_SDK, _PACKAGE = "QNN_SDK_ROOT", "onnxruntime_qnn"
_LIBRARIES = ("libQnnSystem.so", "libQnnHtp.so", "libQnnIr.so")


def find_libraries() -> Path | None:
    """The folder with the libraries for this machine; imports nothing."""
    if os.environ.get(_SDK):
        folder = Path(os.environ[_SDK]) / "lib/x86_64-linux-clang"
    else:
        package = importlib.util.find_spec(_PACKAGE)
        if package is None or package.origin is None:
            return None
        folder = Path(package.origin).parent
    return folder if (folder / _LIBRARIES[1]).exists() else None


def why_missing() -> str | None:
    """Says how to get the libraries; None where they are."""
    if find_libraries() is not None:
        return None
    if os.environ.get(_SDK):
        return f"{_SDK} is {os.environ[_SDK]}, which has no lib/x86_64-linux-clang/{_LIBRARIES[1]}"
    return f"the toolchain lacks QNN's libraries: make qnn, or name an SDK in {_SDK}"


def load_libraries() -> None:
    """Opens the libraries, so that what asks the loader for their names gets these.

    Torch must be imported before: the C++ runtime that the libraries bring does not bear that it
    comes after them.

    Raises:
        MissingDependency: they are not installed, or do not load.
    """
    import torch  # noqa: F401
    import torchao  # noqa: F401

    folder = find_libraries()
    if folder is None:
        raise MissingDependency(str(why_missing()))
    # ExecuTorch downloads an SDK unless this variable exists; empty means: the caller loads it.
    os.environ.setdefault(_SDK, "")
    for name in _LIBRARIES:
        try:
            ctypes.CDLL(str(folder / name))
        except OSError as error:
            raise MissingDependency(f"QNN's {name} does not load: {error}") from error


def find_soc(name: str) -> Any:
    """ExecuTorch's QcomChipset of that name.

    Raises:
        RequestError: no such SoC.
    """
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset

    known = {chipset.name: chipset for chipset in QcomChipset if chipset.value}
    if name not in known:
        raise RequestError(unknown_name("SoC of QNN", name, known))
    return known[name]
