"""Workloads to compare: programs, each with variants that do a known share of work more."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BIN = ROOT / "build/release/bin"
sys.path.insert(0, str(ROOT / "bench"))

from compare_instructions import count_instructions, runner_command  # noqa: E402

EFFECTS = (0.01, 0.02, 0.05)
MULTIPLY_ADDS = 400_000
STREAM_BYTES = 48 << 20


@dataclass(frozen=True)
class Workload:
    """A program A, its copy, and programs that do more; `flags` are those of `assay compare`.

    `alike` and `different`: how many live comparisons with the copy, and with each that does more.
    """

    name: str
    a: Path
    copy: Path
    more: dict[float, Path]
    runner: str
    alike: int
    different: int
    flags: tuple[str, ...] = field(default=())


def write_fake(folder: Path, name: str, **parts: object) -> Path:
    """A program of the fake engine, doing real work."""
    tensor = {"dtype": "float32", "shape": [1, 4]}
    path = folder / f"{name}.fake.json"
    program = {"inputs": [{"name": "x", **tensor}], "outputs": [{"name": "y", **tensor}], **parts}
    path.write_text(json.dumps(program))
    return path


def _copy_of(path: Path) -> Path:
    """Another file with the same bytes."""
    copy = path.with_name("copy_of_" + path.name)
    shutil.copyfile(path, copy)
    return copy


def _loop(
    folder: Path, name: str, work: dict[str, int], counts: tuple[int, int], *flags: str
) -> Workload:
    a = write_fake(folder, name, **work)
    more = {
        effect: write_fake(
            folder,
            f"{name}_{100 * effect:.0f}",
            **{what: round(amount * (1 + effect)) // 8 * 8 for what, amount in work.items()},
        )
        for effect in EFFECTS
    }
    return Workload(name, a, _copy_of(a), more, "fake", *counts, flags)


def _engine(folder: Path) -> Workload:
    programs = {}
    for effect in (0.0, *EFFECTS):
        name = f"more_{100 * effect:.0f}"
        out = folder / name
        if not out.exists():
            command = [str(BIN / "assay"), "aot", f"{HERE / 'models.py'}:{name}", "--out", str(out)]
            command += ["--recipe", "executorch/xnnpack-fp32", "--input-shape", "1,3,224,224"]
            subprocess.run(command, check=True)
        programs[effect] = out / "program.pte"
    a = programs.pop(0.0)
    return Workload("engine", a, _copy_of(a), programs, "executorch", 4, 1, ("--threads", "1"))


def make_workloads(folder: Path) -> list[Workload]:
    """An engine, a loop of arithmetic, a loop through memory; their files are made in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _engine(folder),
        _loop(folder, "compute", {"multiply_adds": MULTIPLY_ADDS}, (65, 2)),
        _loop(
            folder,
            "memory",
            {"stream_bytes": STREAM_BYTES},
            (10, 1),
            *("--warmup", "3", "--iterations", "15"),
        ),
    ]


def instructions_of(program: Path, runner: str, few: int = 2, many: int = 5) -> float:
    """Instructions of one inference, counted by callgrind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = []
        for count in (few, many):
            command = runner_command(BIN, program, count, folder, runner=runner)
            counts.append(count_instructions(command, folder))
    return (counts[1] - counts[0]) / (many - few)
