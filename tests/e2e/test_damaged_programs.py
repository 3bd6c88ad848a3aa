"""Damaged artifacts on the real engine: an error, or a stated answer; never a dead tool."""

import hashlib
import json
import random
import shutil
from pathlib import Path

import pytest
from driver import BIN, Document, Finished, Workplace, case_of

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not (BIN / "assay-runner-executorch").exists(), reason="ExecuTorch's runner is not built"
    ),
]

FACTORY = """
import torch


def net():
    torch.manual_seed(1)
    layers = torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)
    return torch.nn.Sequential(*layers).eval(), (torch.zeros(1, 8),)
"""

RECIPE = "executorch/xnnpack-fp32"


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A home whose cache holds one small program, made by the toolchain of this interpreter."""
    pytest.importorskip("executorch")
    place = Workplace(tmp_path_factory.mktemp("workshop"))
    (place.folder / "factory.py").write_text(FACTORY, encoding="utf-8")
    made = make(place)
    assert made.code == 0, made
    return place


def make(place: Workplace, *flags: str) -> Finished:
    model = f"{place.folder / 'factory.py'}:net"
    out = ["--out", str(place.folder / "made"), "--python", place.python]
    return place.run("aot", model, "--recipe", RECIPE, *out, *flags, timeout_s=300)


@pytest.fixture
def program(workshop: Workplace, place: Workplace) -> Path:
    """A copy of the program, to be damaged."""
    (original,) = (workshop.folder / "made").rglob("*.pte")
    return Path(shutil.copy(original, place.folder / "net.pte"))


def measure(place: Workplace, *programs: Path) -> tuple[int, Document]:
    """A short run over the programs: exit code and report."""
    spec = place.spec(*programs, engines=["executorch"], options={"threads": 1})
    finished = place.run("run", spec, "--format", "json", "--launch-timeout", "20s")
    assert finished.code in (0, 1), finished
    return finished.code, finished.json()


def test_whole_program_runs(place: Workplace, program: Path) -> None:
    code, report = measure(place, program)
    assert code == 0
    assert case_of(report, "net")["outcome"] == "completed"


@pytest.mark.parametrize("kept_ratio", [0.0, 0.01, 0.5, 0.999])
def test_truncated_program_is_an_error_of_loading(
    place: Workplace, program: Path, kept_ratio: float
) -> None:
    whole = program.read_bytes()
    program.write_bytes(whole[: int(len(whole) * kept_ratio)])
    code, report = measure(place, program)
    row = case_of(report, "net")
    assert code == 1
    assert (row["outcome"], row["stage"]) == ("load_error", "load"), row["text"]
    assert row["text"]


def test_flipped_bits_never_end_the_tool(place: Workplace, program: Path) -> None:
    draw = random.Random(7)
    whole = program.read_bytes()
    flipped = []
    for number in range(20):
        damaged = bytearray(whole)
        place_in_file = draw.randrange(len(damaged))
        damaged[place_in_file] ^= 1 << draw.randrange(8)
        flipped.append(place.folder / f"flip{number}.pte")
        flipped[-1].write_bytes(damaged)

    code, report = measure(place, *flipped)

    rows = [case_of(report, f"flip{number}") for number in range(20)]
    assert code == (1 if any(row["verdict"] == "fail" for row in rows) else 0)
    for row in rows:
        if row["outcome"] == "completed":
            # It ran on damaged bytes: nothing here vouches for its answer, and that is told.
            assert row["accuracy"] == "not_checked"
        else:
            assert row["outcome"] in ("load_error", "run_error", "crashed", "timed_out"), row
            assert row["reason_code"], row
            assert row["text"], row
    assert place.processes() == []


def test_flipped_bits_are_told_where_a_digest_is_given(place: Workplace, program: Path) -> None:
    described = place.spec({"ref": str(program), "sha256": digest(program)}, engines=["executorch"])
    damaged = bytearray(program.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    program.write_bytes(damaged)
    finished = place.run("run", described)
    assert finished.code == 3, finished
    assert "has SHA-256" in finished.err
    assert "fetch the file again" in finished.err


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_program_that_needs_an_absent_backend_names_it(place: Workplace, program: Path) -> None:
    whole = program.read_bytes()
    assert whole.count(b"XnnpackBackend") == 1
    program.write_bytes(whole.replace(b"XnnpackBackend", b"AbsentXBackend"))
    code, report = measure(place, program)
    row = case_of(report, "net")
    assert code == 1
    assert (row["outcome"], row["stage"]) == ("load_error", "load"), row
    assert "AbsentXBackend" in row["text"]
    assert "XnnpackBackend" in row["text"], "what is registered is not told"


def test_damaged_artifact_in_the_cache_is_made_again_with_a_warning(workshop: Workplace) -> None:
    (cached,) = (workshop.home / "cache").rglob("*.pte")
    whole = cached.read_bytes()
    cached.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

    again = make(workshop)

    assert again.code == 0, again
    assert "warning" in again.err
    assert "does not have the digest of its manifest; it must be rebuilt" in again.err
    (renewed,) = (workshop.home / "cache").rglob("*.pte")
    manifest = json.loads((renewed.parent / "manifest.json").read_text(encoding="utf-8"))
    entry = next(file for file in manifest["files"] if file["name"] == renewed.name)
    assert entry["sha256"] == digest(renewed)
    assert make(workshop).err.count("warning") == 0


@pytest.mark.parametrize("has_manifest", [True, False])
def test_inspect_gives_names_where_the_manifest_lies_beside(
    workshop: Workplace, place: Workplace, program: Path, has_manifest: bool
) -> None:
    if has_manifest:
        shutil.copy(workshop.folder / "made" / "manifest.json", program.parent)
    finished = place.run("inspect", program, "--python", place.python)
    assert finished.code == 0, finished
    (line,) = [line for line in finished.out.splitlines() if line.startswith("  input")]
    assert line.split(maxsplit=3) == [
        *("input", "input" if has_manifest else "-", "float32", "[1, 8]")
    ]
