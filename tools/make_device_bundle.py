#!/usr/bin/env python3
"""Puts a runner and every library that it needs, the loader included, into one folder for a device.

    python tools/make_device_bundle.py build/aarch64/bin/assay-runner-executorch \
        --libraries build/wheels-aarch64/executorch/executorch/lib \
        --libraries build/sysroot-aarch64 --out build/aarch64/bundle/executorch

A device starts the runner by the `argv` of `bundle.json`, in the folder: the loader of the bundle
takes the bundle's libraries, so the device needs no libc, or may have another one.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

INTERPRETER = re.compile(r"Requesting program interpreter: (\S+)\]")
NEEDED = re.compile(r"\(NEEDED\).*\[(\S+)\]")
LIBRARY_FOLDERS = ("", "lib", "lib/{triple}", "usr/lib", "usr/lib/{triple}")


def read_elf(file: Path) -> str:
    """Asks readelf for the program headers and the dynamic section."""
    asked = subprocess.run(["readelf", "-ldW", str(file)], capture_output=True, text=True)
    if asked.returncode != 0:
        sys.exit(f"make_device_bundle: {asked.stderr.strip()}")
    return asked.stdout


def find_library(name: str, folders: list[Path]) -> Path:
    """Finds the first library of that name; ends the program if there is none."""
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    sys.exit(
        f"make_device_bundle: {name} is in none of {', '.join(map(str, folders))}; "
        "name its folder, or the sysroot that has it, with --libraries"
    )


def collect(program: Path, folders: list[Path]) -> dict[str, Path]:
    """Finds the loader of a program and the libraries that it needs, directly or through others."""
    interpreter = INTERPRETER.search(read_elf(program))
    if interpreter is None:
        sys.exit(f"make_device_bundle: {program} is static, so it needs no bundle")
    found: dict[str, Path] = {}
    open_names = [Path(interpreter[1]).name, *NEEDED.findall(read_elf(program))]
    while open_names:
        name = open_names.pop()
        if name not in found:
            found[name] = find_library(name, folders)
            open_names += NEEDED.findall(read_elf(found[name]))
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
    loader = next(name for name in libraries if name.startswith("ld-"))
    argv = [f"lib/{loader}", "--library-path", "lib", started]
    document = {"triple": triple, "argv": argv, "files": digests}
    (out / "bundle.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return sum((out / name).stat().st_size for name in files)


def main() -> None:
    """Makes the bundle and tells its size."""
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
    parser.add_argument("--triple", default="aarch64-linux-gnu")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    folders = [
        root / folder.format(triple=options.triple)
        for root in options.libraries
        for folder in LIBRARY_FOLDERS
    ]
    libraries = collect(options.program, folders)
    size_bytes = write_bundle(options.program, libraries, options.triple, options.out)
    sys.stdout.write(f"{options.out}: {len(libraries) + 1} files, {size_bytes / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
