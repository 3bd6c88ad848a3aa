"""The toolchain's identity: the interpreter, packages and plug-ins that shape a program.

Runs on its own (``python -m assay.toolchain.identity``) and imports nothing outside of the standard
library, because it is asked before every cache look-up.
"""

import hashlib
import importlib.metadata
import json
import platform
import sys
from typing import Any

from assay._interpreter import find_folders
from assay.toolchain.plugin_sources import digest_plugins, plugin_files

SCHEMA = "assay/toolchain/1"

AOT_VERSION = "4"
"""Part of the toolchain's id: raise it when a request would give another program or reference."""

PACKAGES = (
    "torch",
    "executorch",
    "torchao",
    "torchvision",
    "numpy",
    "coremltools",
    "openvino",
    "nncf",
    "onnx",
    "onnxscript",
    "onnxruntime",
    "litert-torch",
    "ai-edge-litert",
    "ai-edge-quantizer",
    "tosa-tools",
    "ethos-u-vela",
    "ai-ml-sdk-model-converter",
    "ai-ml-sdk-vgf-library",
)


def find_version(package: str) -> str | None:
    """The installed version of `package`, or None when it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe() -> dict[str, Any]:
    """The toolchain document. Its id digests versions and plug-ins' sources, never a path.

    `reads` is what a sandbox has to open for it.
    """
    packages: dict[str, str | None] = {name: find_version(name) for name in PACKAGES}
    packages["assay_aot"] = AOT_VERSION
    versions: dict[str, Any] = {"python": platform.python_version(), "packages": packages}
    if plugins := digest_plugins():
        versions["plugins"] = plugins
    canonical = json.dumps(versions, sort_keys=True, separators=(",", ":"))
    identity = hashlib.sha256(canonical.encode()).hexdigest()
    reads = [*find_folders(), *(str(path.absolute().parent) for path in plugin_files())]
    place = {"executable": sys.executable, "reads": reads}
    return {"schema": SCHEMA, "id": identity, **versions, **place}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(describe()) + "\n")
