"""A bundle holds all that its program needs, under the digests that it states."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_device_bundle.py"
TRIPLE = "x86_64-linux-gnu"


def make_bundle(
    program: Path, out: Path, *libraries: str, flags: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    flags = [*flags, *(flag for folder in libraries for flag in ("--libraries", folder))]
    command = [sys.executable, TOOL, program, *flags, "--triple", TRIPLE, "--out", out]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that needs a library beyond libc."""
    source = tmp_path / "main.c"
    source.write_text("#include <math.h>\nint main(int n, char** v) { return n > 1 ? sin(n) : 7; }")
    subprocess.run(
        ["gcc", "-Wl,--no-as-needed", source, "-o", tmp_path / "prog", "-lm"], check=True
    )
    return tmp_path / "prog"


def test_bundle_starts_with_nothing_of_the_system(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"

    made = make_bundle(program, out, "/")

    assert made.returncode == 0, made.stderr
    document = json.loads((out / "bundle.json").read_text())
    assert {"bin/prog", "lib/libc.so.6", "lib/libm.so.6"} < set(document["files"])
    for name, digest in document["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest, name
    # The loader lists where each library comes from, and falls back to the system's.
    loader, *rest = document["argv"]
    listed = subprocess.run([loader, "--list", *rest], cwd=out, capture_output=True, text=True)
    assert "libm.so.6 => lib/libm.so.6" in listed.stdout
    assert "=> /" not in listed.stdout.replace(f"=> {out}", "")
    assert subprocess.run([loader, *rest], cwd=out).returncode == 7


def test_missing_library_is_named(program: Path, tmp_path: Path) -> None:
    made = make_bundle(program, tmp_path / "bundle", str(tmp_path))

    assert made.returncode == 1
    assert "is in none of" in made.stderr
    assert "--libraries" in made.stderr
    assert not (tmp_path / "bundle").exists()


def test_static_program_needs_no_bundle(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("void _start(void) { for (;;) {} }")
    subprocess.run(["gcc", "-nostdlib", "-static", source, "-o", tmp_path / "prog"], check=True)

    made = make_bundle(tmp_path / "prog", tmp_path / "bundle", "/")

    assert made.returncode == 1
    assert "is static" in made.stderr


def test_libraries_that_a_program_opens_come_along_with_what_they_need(
    program: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "engine"
    folder.mkdir()
    for name, needed in (
        ("inner", []),
        ("plugin", ["-Wl,--no-as-needed", f"{folder}/libinner.so"]),
    ):
        flags = ["-shared", f"-Wl,-soname,lib{name}.so", "-o", f"{folder}/lib{name}.so"]
        subprocess.run(["gcc", "-xc", "/dev/null", "-xnone", *needed, *flags], check=True)
    out = tmp_path / "bundle"

    made = make_bundle(program, out, str(folder), "/", flags=["--loads", "libplug*.so"])

    assert made.returncode == 0, made.stderr
    files = json.loads((out / "bundle.json").read_text())["files"]
    assert {"lib/libplugin.so", "lib/libinner.so"} < set(files)
    absent = make_bundle(program, out, str(folder), "/", flags=["--loads", "libnone*.so"])
    assert "libnone*.so is in none of" in absent.stderr


def test_bundle_without_a_loader_leaves_the_systems_libraries_to_the_device(
    program: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bundle"

    made = make_bundle(program, out, str(tmp_path), flags=["--no-loader"])

    assert made.returncode == 0, made.stderr
    document = json.loads((out / "bundle.json").read_text())
    assert document["argv"] == ["bin/prog"]
    assert list(document["files"]) == ["bin/prog"]
    assert subprocess.run(document["argv"], cwd=out).returncode == 7
