#!/usr/bin/env python3
"""Puts a runner and every library that it needs, the loader included, into one folder for a device.

    python tools/make_device_bundle.py build/aarch64/bin/assay-runner-executorch \
        --libraries build/wheels-aarch64/executorch/executorch/lib \
        --libraries build/sysroot-aarch64 --out build/aarch64/bundle/executorch

A device starts the runner by the `argv` of `bundle.json`, in the folder: the loader of the bundle
takes the bundle's libraries, so the device needs no libc, or may have another one. With --no-loader
the device's own loader starts the runner, which must look for its libraries in `$ORIGIN/../lib`;
libraries that are in none of the folders are the device's.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

INTERPRETER = re.compile(r"Requesting program interpreter: (\S+)\]")
NEEDED = re.compile(r"\(NEEDED\).*\[(\S+)\]")
LIBRARY_FOLDERS = ("", "lib", "lib/{triple}", "usr/lib", "usr/lib/{triple}")


def read_elf(file: Path) -> str:
    """Asks readelf for the program headers and the dynamic section."""
    asked = subprocess.run(["readelf", "-ldW", str(file)], capture_output=True, text=True)
    if asked.returncode != 0:
        sys.exit(f"make_device_bundle: {asked.stderr.strip()}")
    return asked.stdout


def refuse_missing(name: str, folders: list[Path]) -> NoReturn:
    """Ends the program for a library that is nowhere."""
    sys.exit(
        f"make_device_bundle: {name} is in none of {', '.join(map(str, folders))}; "
        "name its folder, or the sysroot that has it, with --libraries"
    )


def find_loaded(pattern: str, folders: list[Path]) -> list[Path]:
    """Finds the libraries of a pattern, in the first folder that has any."""
    for folder in folders:
        if found := sorted(folder.glob(pattern)):
            return found
    refuse_missing(pattern, folders)


def find_interpreter(program: Path) -> str:
    """Name of the loader that a program asks for."""
    interpreter = INTERPRETER.search(read_elf(program))
    if interpreter is None:
        sys.exit(f"make_device_bundle: {program} is static, so it needs no bundle")
    return Path(interpreter[1]).name


def collect(
    program: Path, loaded: list[Path], folders: list[Path], has_loader: bool
) -> dict[str, Path]:
    """Finds the libraries that a program needs or loads, directly or through others."""
    found = {library.name: library for library in loaded}
    open_names = [name for file in (program, *loaded) for name in NEEDED.findall(read_elf(file))]
    if has_loader:
        open_names.append(find_interpreter(program))
    while open_names:
        name = open_names.pop()
        if name in found:
            continue
        library = next((one / name for one in folders if (one / name).is_file()), None)
        if library is not None:
            found[name] = library
            open_names += NEEDED.findall(read_elf(library))
        elif has_loader:
            refuse_missing(name, folders)
    return found


def write_bundle(program: Path, libraries: dict[str, Path], triple: str, out: Path) -> int:
    """Writes the folder anew; returns its bytes."""
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("bin", "lib"):
        (out / folder).mkdir(parents=True)
    started = f"bin/{program.name}"  # A name without a folder is a library's to the loader.
    files = {started: program, **{f"lib/{name}": path for name, path in libraries.items()}}
    digests = {}
    for name, path in sorted(files.items()):
        shutil.copy(path, out / name)
        digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    loader = next((name for name in libraries if name.startswith("ld-")), None)
    argv = [f"lib/{loader}", "--library-path", "lib", started] if loader else [started]
    document = {"triple": triple, "argv": argv, "files": digests}
    (out / "bundle.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return sum((out / name).stat().st_size for name in files)


def read_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument(
        "--libraries",
        type=Path,
        action="append",
        required=True,
        metavar="FOLDER",
        help="a folder of libraries, or a sysroot; the first that has a library provides it",
    )
    parser.add_argument(
        "--loads",
        action="append",
        default=[],
        metavar="PATTERN",
        help="libraries that the program opens while it runs: their names, with * and ?",
    )
    parser.add_argument("--no-loader", dest="has_loader", action="store_false")
    parser.add_argument("--triple", default="aarch64-linux-gnu")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    return parser.parse_args()


def main() -> None:
    """Makes the bundle and tells its size."""
    options = read_options()
    folders = [
        root / folder.format(triple=options.triple)
        for root in options.libraries
        for folder in LIBRARY_FOLDERS
    ]
    loaded = [library for one in options.loads for library in find_loaded(one, folders)]
    libraries = collect(options.program, loaded, folders, options.has_loader)
    size_bytes = write_bundle(options.program, libraries, options.triple, options.out)
    sys.stdout.write(f"{options.out}: {len(libraries) + 1} files, {size_bytes / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
