"""Finds what executes VGF files without a GPU, and points Vulkan's loader at it.

Mesa's lavapipe computes shaders on the CPU; two layers of Arm's emulate VK_ARM_tensors and
VK_ARM_data_graph on it. The loader orders layers by the folder in which it finds them, so that each
has a folder of its own here, with the path of its library, which the packaged file leaves open.
"""

import ctypes
import importlib.util
import json
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from assay.toolchain.temporary import TemporaryFolder

LAYERS = ("Graph", "Tensor")
"""The graph layer calls the tensor layer, so it comes first."""

_DRIVERS = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
_DRIVER_FOLDERS = ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d")
HOW_TO_GET_DRIVER = "apt-get install mesa-vulkan-drivers libvulkan1"


def find_missing() -> str | None:
    """Names the part of the system's Vulkan that is missing, with the way to get it."""
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return f"Vulkan's loader is not installed: {HOW_TO_GET_DRIVER}"
    if find_driver(os.environ) is None:
        return f"Mesa's lavapipe is not installed: {HOW_TO_GET_DRIVER}"
    return None


def find_driver(environment: Mapping[str, str]) -> str | None:
    """The driver that the environment names, else lavapipe's file."""
    for variable in _DRIVERS:
        if environment.get(variable):
            return environment[variable]
    for folder in _DRIVER_FOLDERS:
        for path in sorted(Path(folder).glob("lvp_icd*.json")):
            return str(path)
    return None


def emulate(environment: MutableMapping[str, str], folder: Path) -> None:
    """Sets the loader's variables; `folder` holds the layers' files as long as they are used."""
    found = importlib.util.find_spec("emulation_layer")
    assert found is not None
    assert found.origin is not None
    deployed = Path(found.origin).parent / "deploy"
    folders = [str(_write_layer(deployed, name, folder)) for name in LAYERS]
    environment["VK_LAYER_PATH"] = os.pathsep.join(folders)
    environment["VK_INSTANCE_LAYERS"] = os.pathsep.join(
        f"VK_LAYER_ML_{name}_Emulation" for name in LAYERS
    )
    environment["LP_NUM_THREADS"] = "0"  # lavapipe computes on the thread of its queue.
    driver = find_driver(environment)
    if driver is not None:
        environment["VK_ICD_FILENAMES"] = driver


def _write_layer(deployed: Path, name: str, folder: Path) -> Path:
    packaged = deployed / f"share/vulkan/explicit_layer.d/VkLayer_{name}.json"
    document = json.loads(packaged.read_text())
    library = Path(document["layer"]["library_path"]).name
    document["layer"]["library_path"] = str(deployed / "lib" / library)
    own = folder / name
    own.mkdir()
    (own / packaged.name).write_text(json.dumps(document))
    return own


def make_folder() -> TemporaryFolder:
    """A folder for the layers' files, until the process ends."""
    return TemporaryFolder("vulkan-layers")
