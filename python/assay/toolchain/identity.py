"""The toolchain's identity: the interpreter, packages and plug-ins that shape a program.

Runs on its own (``python -m assay.toolchain.identity``) and imports nothing outside of the standard
library, because it is asked before every cache look-up.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

from assay._interpreter import find_folders
from assay.toolchain.model_folders import digest_models
from assay.toolchain.plugin_sources import digest_plugins, plugin_files
from assay.toolchain.rebuilt_packages import digest_rebuilt

SCHEMA = "assay/toolchain/1"

AOT_VERSION = "7"
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
    "onnxruntime-qnn",
    "onnx-ir",
    "litert-torch",
    "litert-converter",
    "jax",
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
    """The toolchain document. Its id digests versions, sources and `draws`, never a path.

    `compiles_for` digests the processor and the compiler, which belong to the identity of programs
    of machine code. `reads` is what a sandbox has to open for it.
    """
    packages: dict[str, str | None] = {name: find_version(name) for name in PACKAGES}
    packages["assay_aot"] = AOT_VERSION
    versions: dict[str, Any] = {"python": platform.python_version(), "packages": packages}
    if plugins := digest_plugins():
        versions["plugins"] = plugins
    if models := digest_models():
        versions["conformance_models"] = models
    if rebuilt := digest_rebuilt(PACKAGES):
        versions["rebuilt"] = rebuilt
    versions["draws"] = _draws()
    canonical = json.dumps(versions, sort_keys=True, separators=(",", ":"))
    identity = hashlib.sha256(canonical.encode()).hexdigest()
    compiles_for = hashlib.sha256(_processor().encode()).hexdigest()
    reads = [*find_folders(), *(str(path.absolute().parent) for path in plugin_files())]
    place = {"executable": sys.executable, "reads": reads}
    return {
        **{"schema": SCHEMA, "id": identity, **versions},
        **{"compiles_for": compiles_for, **place},
    }


def _draws() -> str:
    """Names what random numbers of PyTorch depend on in addition to the seed, in their last bits.

    Kernels with AVX2 and with AVX-512 draw alike; others round logarithms and products otherwise,
    so that a layer's own weights are not those of another kind of processor.
    """
    flags = _features().split()
    has_avx2 = {"avx2", "fma"} <= set(flags)
    if has_avx2 and os.environ.get("ATEN_CPU_CAPABILITY") != "default":
        return f"{platform.machine()} avx2"
    return f"{platform.machine()} sve" if "sve" in flags else platform.machine()


def _features() -> str:
    """The line of the first processor's instruction sets; "" if there is none."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _processor() -> str:
    """Describes the processor as a compiler sees it (-march=native), and the compiler (CXX)."""
    compiler = shutil.which(os.environ.get("CXX", "g++")) or ""
    parts = (platform.machine(), _features(), os.path.realpath(compiler), _state_of(compiler))
    return "\n".join(parts)


def _state_of(program: str) -> str:
    """Size and time of the file; a new version has others."""
    try:
        status = Path(program).stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(describe()) + "\n")
