"""The project that builds ExecuTorch's backends from a checkout, with a small one in its place."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).resolve().parents[2] / "cmake" / "executorch_backends"

# ExecuTorch's generator as far as Assay's part of it goes: shaders by name from templates with
# parameters, compiled one by one.
GENERATOR = """
import os, subprocess, sys
from pathlib import Path

def preprocess(text, parameters):
    parameters["B"][0] += 1
    text = text.replace("$BINDING", str(parameters["B"][0]))
    return text.replace("$EXTENSION", parameters.get("EXTENSION", ""))

class SPVGenerator:
    def __init__(self, folder):
        self.folder = folder
        self.output_file_map = {}
        self.constructOutputMap()

    def constructOutputMap(self):
        dot = "#extension GL_DOT : require"
        for name, template, parameters in (
            ("conv", "conv.glsl", {}),
            ("conv_int8", "conv.glsl", {"EXTENSION": dot}),
            ("linear_int8", "linear.glsl", {}),
            ("int8", "int8.glslh", {"EXTENSION": dot}),
        ):
            self.output_file_map[name] = (f"{self.folder}/{template}", {"B": [0], **parameters})

def main(argv):
    folder, glslc, out = argv[1:4]
    shaders = SPVGenerator(folder).output_file_map.items()
    names = []
    for name, (path, parameters) in shaders:
        if path.endswith(".glsl"):
            names.append(name)
            text = preprocess(Path(path).read_text(), parameters)
            subprocess.run([glslc, name, text], check=True)
    Path(out).write_text(f'extern "C" const char* shader_names() {{ return "{" ".join(names)}"; }}')
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv))
"""

FILES = {
    "tools/cmake/Codegen.cmake": "function(executorch_load_build_variables)\nendfunction()\n",
    "backends/vulkan/runtime/conv.glsl": "$EXTENSION\nlayout(binding=$BINDING)\n",
    "backends/vulkan/runtime/linear.glsl": '#include "int8.glslh"\nvoid main() {}\n',
    "backends/vulkan/runtime/int8.glslh": "$EXTENSION\n",
    "backends/vulkan/runtime/gen.py": GENERATOR,
    "backends/vulkan/CMakeLists.txt": """
set(shaders ${CMAKE_CURRENT_BINARY_DIR}/shaders.cpp)
add_custom_command(OUTPUT ${shaders} COMMAND "${PYTHON_EXECUTABLE}"
  ${EXECUTORCH_ROOT}/backends/vulkan/runtime/gen.py ${EXECUTORCH_ROOT}/backends/vulkan/runtime
  ${GLSLC_PATH} ${shaders})
add_library(vulkan_backend backend.cpp ${shaders})
target_link_libraries(vulkan_backend PRIVATE executorch_core)
""",
    "backends/vulkan/backend.cpp": """
#include <executorch/backends/vulkan/only_here.h>
#include <executorch/runtime/version.h>
extern "C" int registered() { return register_backend(kOnlyHere + kVersion); }
""",
    "backends/vulkan/only_here.h": "constexpr int kOnlyHere = 40;\n",
    "runtime/version.h": '#error "the headers of the installation come first"\n',
}
INSTALLED = {
    "include/executorch/runtime/version.h": (
        'constexpr int kVersion = 2;\nextern "C" int register_backend(int);\n'
    ),
    "runtime.c": "int register_backend(int value) { return value; }\n",
    "executorch-config.cmake": """
set(EXECUTORCH_INCLUDE_DIRS "${CMAKE_CURRENT_LIST_DIR}/include")
add_library(executorch::runtime SHARED IMPORTED)
set_target_properties(executorch::runtime PROPERTIES
  IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libruntime.so"
  INTERFACE_INCLUDE_DIRECTORIES "${EXECUTORCH_INCLUDE_DIRS}")
""",
}
CALL = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.shader_names.restype = ctypes.c_char_p
print(library.registered(), library.shader_names().decode())
"""


def write_all(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def generate_shaders() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", PROJECT / "generate_shaders.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shaders_without(module: ModuleType, folder: Path, missing: set[str]) -> set[str]:
    write_all(folder, FILES)
    runtime = folder / "backends/vulkan/runtime"
    generator = module.load_module(str(runtime / "gen.py"))
    module.leave_out(generator, missing)
    return set(generator.SPVGenerator(str(runtime)).output_file_map)


def test_leaves_out_the_variants_and_includers_of_an_extension(generate_shaders, tmp_path):
    assert shaders_without(generate_shaders, tmp_path, {"GL_DOT"}) == {"conv", "int8"}


def test_keeps_shaders_that_need_other_extensions(generate_shaders, tmp_path):
    everything = {"conv", "conv_int8", "linear_int8", "int8"}
    assert shaders_without(generate_shaders, tmp_path, {"GL_OTHER"}) == everything


@pytest.mark.slow  # Configures and compiles.
@pytest.mark.skipif(shutil.which("ninja") is None, reason="there is no ninja")
def test_builds_a_library_from_a_small_checkout(tmp_path):
    checkout, installed, build = tmp_path / "sources", tmp_path / "installed", tmp_path / "build"
    write_all(checkout, FILES)
    write_all(installed, INSTALLED)
    glslc = tmp_path / "glslc"
    glslc.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/compiled\n')
    glslc.chmod(0o755)
    runtime = [installed / "runtime.c", "-o", installed / "libruntime.so"]
    subprocess.run(["cc", "-shared", "-fPIC", *runtime], check=True)
    cmake = Path(sys.executable).with_name("cmake")
    values = {
        "executorch_DIR": installed,
        "ASSAY_CHECKOUT": checkout,
        "ASSAY_BACKENDS": "vulkan",
        "ASSAY_PYTHON": sys.executable,
        "ASSAY_FLATC": "/bin/true",
        "GLSLC_PATH": glslc,
        "ASSAY_MISSING_EXTENSIONS": "GL_DOT;GL_OTHER",
    }
    definitions = [f"-D{name}={value}" for name, value in values.items()]
    configure = [cmake, "-S", PROJECT, "-B", build, "-G", "Ninja", *definitions]
    subprocess.run(configure, check=True, capture_output=True)
    target = ["--target", "executorch_backend_vulkan"]
    subprocess.run([cmake, "--build", build, *target], check=True, capture_output=True)
    library = build / "lib/libexecutorch_backend_vulkan.so"
    said = subprocess.check_output([sys.executable, "-c", CALL, library], text=True)
    assert said == "42 conv\n"
    assert (tmp_path / "compiled").read_text() == "conv \nlayout(binding=1)\n\n"
