"""Entries of examples/engine_bugs make scripts, and the failure of each script is there."""

import ast
import importlib
import importlib.util
import os
import sys
from pathlib import Path

import pytest
from warm_scripts import run_script

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "engine_bugs"))

pytest.importorskip("torch")
reproduce = importlib.import_module("reproduce")

pytestmark = pytest.mark.engine
BUGS = reproduce.read_bugs()


def openvino_library() -> dict[str, str]:
    """Where ExecuTorch finds OpenVINO: its import says so to a process, and a fork has it not."""
    spec = importlib.util.find_spec("openvino")
    places = spec.submodule_search_locations if spec else None
    folder = Path(places[0] if places else "", "libs")
    found = sorted(folder.glob("libopenvino_c.so*"))
    return {"OPENVINO_LIB_PATH": str(found[0])} if found else {}


def test_each_entry_makes_a_script_that_imports_nothing_of_assay() -> None:
    for name, bug in BUGS.items():
        script = reproduce.script_of(bug)
        imports = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.ImportFrom)]
        assert not [one for one in imports if str(one.module).startswith("assay")], name


@pytest.mark.long
@pytest.mark.parametrize("name", BUGS)
def test_the_failure_is_there(name: str, tmp_path: Path) -> None:
    script = tmp_path / f"{name}.py"
    script.write_text(reproduce.script_of(BUGS[name]), encoding="utf-8")
    ran = run_script(script, cwd=tmp_path, environment={**os.environ, **openvino_library()})
    assert ran.returncode == 0, ran.stdout + ran.stderr
