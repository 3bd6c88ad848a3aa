"""The bill of materials, and the commit that a build records."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_bill_of_materials_names_what_is_bundled_and_what_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "assay.cdx.json"
    subprocess.run([sys.executable, ROOT / "tools" / "make_sbom.py", file], check=True)
    document = json.loads(file.read_text("utf-8"))
    components = {one["name"]: one for one in document["components"]}
    assert document["specVersion"] == "1.5"
    assert components["vega"]["purl"] == "pkg:npm/vega@6.2.0"
    assert components["SQLite"]["licenses"] == [{"license": {"id": "blessing"}}]
    assert components["numpy"]["scope"] == "required"
    assert components["executorch"]["scope"] == "optional"
    refs = [one["bom-ref"] for one in document["components"]]
    assert len(set(refs)) == len(refs)
    assert document["dependencies"][0]["dependsOn"] == refs


def cmake() -> str:
    """Returns the CMake of the environment; the system's may be too old."""
    beside = Path(sys.executable).parent / "cmake"
    return str(beside) if beside.exists() else "cmake"


def commit_told(source: Path, output: Path) -> str:
    script = ROOT / "cmake" / "AssayBuildInfo.cmake"
    subprocess.run(
        [cmake(), f"-DSOURCE={source}", f"-DOUTPUT={output}", "-DVERSION=1.2.3", "-P", script],
        check=True,
    )
    return output.read_text("utf-8").split('.commit = "')[1].split('"')[0]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def test_the_commit_is_that_of_the_checkout_and_never_of_one_around_it(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "file").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "one")
    output = inner / "build_info.cpp"
    clean = commit_told(tmp_path, output)
    assert len(clean) == 12
    (tmp_path / "file").write_text("2")
    assert commit_told(tmp_path, output) == f"{clean}-dirty"
    assert commit_told(inner, output) == "unknown"
    (inner / "COMMIT").write_text("0123456789ab\n")
    assert commit_told(inner, output) == "0123456789ab"
    written = output.stat().st_mtime_ns
    commit_told(inner, output)
    assert output.stat().st_mtime_ns == written, "an unchanged answer compiles nothing"
