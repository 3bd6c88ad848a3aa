"""Fails when an include names a module that is not declared in DEPS, or not on a lower layer.

Usage: check_layers.py [SOURCE_FOLDER]; exit code 1 and one line per fault if there are any.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#include "assay/((?:engines/)?[a-z_]+)/', re.MULTILINE)
MODULE = re.compile(r"assay_module\(\s*([\w/]+)(.*?)\)", re.DOTALL)
KEYWORDS = "LAYER|SRCS|DEPS|LIBS|PRIVATE_LIBS|TESTS|TEST_DEPS|TEST_LIBS"


@dataclass(frozen=True)
class Module:
    """One module as its CMakeLists.txt declares it."""

    name: str
    layer: int
    deps: frozenset[str]
    test_deps: frozenset[str]


def read_list(body: str, keyword: str) -> list[str]:
    """The words behind a keyword of assay_module, up to the next keyword."""
    match = re.search(rf"\b{keyword}\b(.*?)(?=\b(?:{KEYWORDS})\b|$)", body, re.DOTALL)
    return match.group(1).split() if match else []


def read_modules(root: Path) -> dict[str, Module]:
    """Every module under root by name."""
    modules = {}
    for file in root.rglob("CMakeLists.txt"):
        for name, body in MODULE.findall(re.sub(r"#.*", "", file.read_text())):
            modules[name] = Module(
                name=name,
                layer=int(read_list(body, "LAYER")[0]),
                deps=frozenset(read_list(body, "DEPS")),
                test_deps=frozenset(read_list(body, "TEST_DEPS")),
            )
    return modules


def find_faults(root: Path, modules: dict[str, Module]) -> list[str]:
    """One sentence for each include or declaration that breaks the rule."""
    faults = []
    for module in modules.values():
        faults += [
            f"{module.name} (layer {module.layer}) declares {dep}, which is not on a lower layer"
            for dep in sorted(module.deps)
            if dep not in modules or modules[dep].layer >= module.layer
        ]
        folder = root / module.name
        for file in sorted(folder.glob("*.h")) + sorted(folder.glob("*.cpp")):
            if file.stem.endswith("main"):
                continue  # A program stands above all modules.
            allowed = module.deps | {module.name}
            if file.stem.endswith(("_test", "_fuzz")):
                allowed |= module.test_deps
            for used in sorted(set(INCLUDE.findall(file.read_text())) - allowed):
                faults.append(f"{file}: includes {used}, which {module.name} does not declare")
    return faults


def main() -> int:
    """Prints the faults; returns the exit code."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "src/assay")
    modules = read_modules(root)
    faults = find_faults(root, modules)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"layers: {len(modules)} modules, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
