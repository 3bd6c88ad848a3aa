"""Runs ExecuTorch's generator of Vulkan shaders without those that glslc cannot compile.

``generate_shaders.py EXTENSION[,EXTENSION…] GENERATOR [ARGUMENT…]``

A shader is left out where its text, or a file that it includes, requires one of the extensions of
GLSL. The variants of a template are looked at one by one: those that do without an extension stay.
"""

import copy
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_REQUIRED = re.compile(r"^\s*#extension\s+(\w+)\s*:\s*require\b", re.MULTILINE)
_INCLUDED = re.compile(r'^\s*#include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def main(argv: list[str]) -> int:
    """Takes the first argument away and lets the generator see the rest."""
    missing, script = set(argv[1].split(",")), argv[2]
    generator = load_module(script)
    leave_out(generator, missing)
    sys.argv = argv[2:]
    return int(generator.main(sys.argv) or 0)


def load_module(script: str) -> ModuleType:
    """The generator as a module; its own check for being the main program stays false."""
    spec = importlib.util.spec_from_file_location("gen_vulkan_spv", script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gen_vulkan_spv"] = module
    spec.loader.exec_module(module)
    return module


def leave_out(generator: Any, missing: set[str]) -> None:
    """Has each list of shaders that `generator` makes shrink to those without `missing`."""
    construct = generator.SPVGenerator.constructOutputMap

    def construct_without(self: Any) -> None:
        construct(self)
        texts = {
            # Parameters have counters of bindings, which a rendering moves on.
            name: generator.preprocess(Path(path).read_text("utf-8"), copy.deepcopy(parameters))
            for name, (path, parameters) in self.output_file_map.items()
        }
        left_out = sorted(
            name
            for name, (path, _) in self.output_file_map.items()
            if Path(path).suffix == ".glsl" and required(name, texts) & missing
        )
        for name in left_out:
            del self.output_file_map[name]
        sys.stderr.write(f"left out {len(left_out)} shaders: {', '.join(left_out)}\n")

    generator.SPVGenerator.constructOutputMap = construct_without


def required(name: str, texts: dict[str, str]) -> set[str]:
    """The extensions that a text and all that it includes require."""
    seen: set[str] = set()
    waiting, extensions = [name], set()
    while waiting:
        current = waiting.pop()
        if current in seen or current not in texts:
            continue
        seen.add(current)
        extensions.update(_REQUIRED.findall(texts[current]))
        waiting += [Path(file).stem for file in _INCLUDED.findall(texts[current])]
    return extensions


if __name__ == "__main__":
    sys.exit(main(sys.argv))
