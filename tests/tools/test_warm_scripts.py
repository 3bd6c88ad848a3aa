"""Scripts in forks of a warm interpreter behave as in one of their own."""

import os
import signal
from pathlib import Path

import pytest
from warm_scripts import run_script

SCRIPT = """
import json, os, sys
import beside
print(json.dumps([sys.argv[1:], os.environ["OWN"], os.getcwd(), __name__, beside.NAME]))
print("told", file=sys.stderr)
sys.exit(7)
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_script_has_its_arguments_environment_and_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    script = write(tmp_path, SCRIPT)
    environment = {**os.environ, "OWN": "mine"}
    ran = run_script(script, "one", cwd=tmp_path, environment=environment)
    assert ran.returncode == 7
    assert ran.stdout == f'[["one"], "mine", "{tmp_path}", "__main__", "beside"]\n'
    assert ran.stderr == "told\n"


def test_an_import_that_fails_does_so_in_the_script(tmp_path: Path) -> None:
    ran = run_script(write(tmp_path, "import no_such_module\n"))
    assert ran.returncode == 1
    assert "No module named 'no_such_module'" in ran.stderr


def test_a_script_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    changes = "import json, os\njson.left = 1\nos.environ['LEFT'] = '1'\n"
    assert run_script(write(tmp_path, changes)).returncode == 0
    looks = "import json, os\nprint(hasattr(json, 'left'), 'LEFT' in os.environ)\n"
    assert run_script(write(tmp_path, looks)).stdout == "False False\n"


def test_only_what_is_named_is_imported_in_advance(tmp_path: Path) -> None:
    looks = "import sys\nprint('wave' in sys.modules)\nimport wave\n"
    script = write(tmp_path, looks)
    assert run_script(script, imports="import json").stdout == "False\n"
    assert run_script(script).stdout == "True\n"


def test_a_death_by_a_signal_is_told(tmp_path: Path) -> None:
    dies = f"import os\nos.kill(os.getpid(), {int(signal.SIGKILL)})\n"
    assert run_script(write(tmp_path, dies)).returncode == -signal.SIGKILL


def test_a_script_that_does_not_end_is_a_failure_and_the_next_one_runs(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="did not end"):
        run_script(write(tmp_path, "import time\ntime.sleep(100)\n"), timeout_s=1)
    assert run_script(write(tmp_path, "print(1)\n")).stdout == "1\n"
