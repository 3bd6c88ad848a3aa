"""Checks the includes of all C++ trees against the declarations of CMake.

A fault is
- a declared dependency that is not on a lower layer, or that nothing of the module includes,
- a feature (src/features) that the core (src/assay) declares; only the command line may,
- an include of a module that is neither declared nor, outside of src, linked,
- an include of a `testing/` folder outside of tests and benchmarks, and any of Assay by a delegate.

Usage: check_layers.py [ROOT]; exit code 1 and one line per fault if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#include "([\w./-]+)"', re.MULTILINE)
MODULE_OF_INCLUDE = re.compile(r"(assay|features)/((?:engines/)?[a-z_]+)/")
MODULE = re.compile(r"assay_module\(\s*([\w/]+)(.*?)\)", re.DOTALL)
LINKED = re.compile(r"target_link_libraries\((.*?)\)", re.DOTALL)
LINKED_MODULE = re.compile(r"\bassay_([a-z_]+)\b")
KEYWORDS = "LAYER|SRCS|DEPS|LIBS|PRIVATE_LIBS|TESTS|TEST_DEPS|TEST_LIBS"
CORE, FEATURES = Path("src", "assay"), Path("src", "features")
# Modules of src/assay that stand above the features.
ROOFS = frozenset({"cli"})
# Trees beside src; what they include of Assay must be linked.
PROGRAM_TREES = ("bench", "python/src", "studies", "tools")
# Packages of their own, which use nothing of Assay.
SEPARATE_TREES = ("delegates",)
# A header of a library that is loaded at run time: linking it would replace the host's malloc.
NOT_LINKED = {("host/module.cpp", "allocation")}


@dataclass(frozen=True)
class Module:
    """One module as its CMakeLists.txt declares it."""

    name: str
    folder: Path
    layer: int
    deps: frozenset[str]
    test_deps: frozenset[str]


def read_list(body: str, keyword: str) -> list[str]:
    """The words behind a keyword of assay_module, up to the next keyword."""
    match = re.search(rf"\b{keyword}\b(.*?)(?=\b(?:{KEYWORDS})\b|$)", body, re.DOTALL)
    return match.group(1).split() if match else []


def read_cmake(file: Path) -> str:
    """The text of a CMakeLists.txt without its comments."""
    return re.sub(r"#.*", "", file.read_text())


def read_modules(root: Path) -> dict[str, Module]:
    """Every module of the core and of the features by name."""
    modules = {}
    for file in sorted((root / "src").rglob("CMakeLists.txt")):
        for name, body in MODULE.findall(read_cmake(file)):
            modules[name] = Module(
                name=name,
                folder=file.parent,
                layer=int(read_list(body, "LAYER")[0]),
                deps=frozenset(read_list(body, "DEPS")),
                test_deps=frozenset(read_list(body, "TEST_DEPS")),
            )
    return modules


def list_sources(folder: Path) -> list[Path]:
    """C++ files of a folder and of those below it."""
    return sorted(file for file in folder.rglob("*") if file.suffix in {".h", ".cpp"})


def is_test(file: Path) -> bool:
    """True if a file is compiled into tests and fuzz targets alone."""
    return file.stem.endswith(("_test", "_fuzz", "_bench")) or file.parent.name == "testing"


def is_program(file: Path) -> bool:
    """True if a file is the main of a program, which stands above all modules."""
    return file.stem == "main" or file.stem.endswith("_main")


def read_includes(file: Path) -> list[str]:
    """The quoted includes of a file."""
    return INCLUDE.findall(file.read_text())


def read_used_modules(file: Path) -> set[str]:
    """The modules that a file includes something of."""
    matches = (MODULE_OF_INCLUDE.match(include) for include in read_includes(file))
    return {match.group(2) for match in matches if match}


def is_feature(module: Module) -> bool:
    """Whether a module is a feature, which the core does without."""
    return module.folder.parent.name == FEATURES.name


def find_declaration_faults(module: Module, modules: dict[str, Module]) -> Iterator[str]:
    """Dependencies that are not on a lower layer, and features that the core depends on."""
    for dep in sorted(module.deps):
        if dep not in modules or modules[dep].layer >= module.layer:
            yield (
                f"{module.name} (layer {module.layer}) declares {dep}, "
                "which is not on a lower layer"
            )
        elif is_feature(modules[dep]) and not is_feature(module) and module.name not in ROOFS:
            yield f"{module.name} is core and declares {dep}, which is a feature"


def find_include_faults(module: Module, files: Iterable[Path]) -> Iterator[str]:
    """Includes of modules that are not declared, and declarations that no include needs."""
    used: set[str] = set()
    used_by_tests: set[str] = set()
    for file in files:
        if is_program(file):
            continue
        found = read_used_modules(file)
        (used_by_tests if is_test(file) else used).update(found)
        allowed = module.deps | {module.name} | (module.test_deps if is_test(file) else frozenset())
        for name in sorted(found - allowed):
            yield f"{file}: includes {name}, which {module.name} does not declare"
    for dep in sorted(module.deps - used):
        hint = "only its tests do: move it to TEST_DEPS" if dep in used_by_tests else "remove it"
        yield f"{module.name} declares {dep} in DEPS, which its sources do not include; {hint}"
    for dep in sorted(module.test_deps - used_by_tests):
        yield f"{module.name} declares {dep} in TEST_DEPS, which its tests do not include"


def find_testing_faults(files: Iterable[Path]) -> Iterator[str]:
    """Includes of test fixtures by files that are no tests."""
    for file in files:
        if is_test(file) or is_program(file):
            continue
        for include in read_includes(file):
            if "/testing/" in include:
                yield f"{file}: includes {include}, which is for tests only"


def find_linked(file: Path, modules: dict[str, Module]) -> set[str]:
    """The modules that the targets of a CMakeLists.txt link, with all that those use."""
    by_target = {name.replace("/", "_"): name for name in modules}
    text = " ".join(LINKED.findall(read_cmake(file)))
    todo = {by_target[word] for word in LINKED_MODULE.findall(text) if word in by_target}
    linked: set[str] = set()
    while todo:
        name = todo.pop()
        linked.add(name)
        todo |= (modules[name].deps & modules.keys()) - linked
    return linked


def find_program_faults(tree: Path, modules: dict[str, Module]) -> Iterator[str]:
    """Includes of modules that the nearest CMakeLists.txt above a file does not link."""
    for file in list_sources(tree):
        used = read_used_modules(file)
        if not used:
            continue
        folders = (folder / "CMakeLists.txt" for folder in file.parents)
        cmake = next(candidate for candidate in folders if candidate.exists())
        for name in sorted(used - find_linked(cmake, modules)):
            if (file.relative_to(tree).as_posix(), name) not in NOT_LINKED:
                yield f"{file}: includes {name}, which {cmake} does not link"


def find_faults(root: Path) -> tuple[int, list[str]]:
    """The number of modules, and one sentence for each fault."""
    modules = read_modules(root)
    faults: list[str] = []
    files = list_sources(root / CORE) + list_sources(root / FEATURES)
    for module in modules.values():
        own = [file for file in files if file.is_relative_to(module.folder)]
        faults += find_declaration_faults(module, modules)
        faults += find_include_faults(module, own)
    for tree in PROGRAM_TREES:
        files += list_sources(root / tree)
        faults += find_program_faults(root / tree, modules)
    for tree in SEPARATE_TREES:
        separate = list_sources(root / tree)
        files += separate
        for file in separate:
            for name in sorted(read_used_modules(file)):
                faults.append(f"{file}: includes {name}, but a delegate uses nothing of Assay")
    return len(modules), faults + list(find_testing_faults(files))


def main() -> int:
    """Prints the faults; returns the exit code."""
    modules, faults = find_faults(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"layers: {modules} modules, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
