import pathlib
import subprocess
import sys
import typing

import pytest

import assay
from assay import _paths


def test_the_import_is_light():
    code = (
        "import assay, sys; assay.load; assay.bench; "
        "print([m for m in ('torch', 'assay._core', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_names_are_there():
    for name in assay.__all__:
        named = getattr(assay, name)
        assert typing.get_origin(named) is typing.Literal or named.__name__ == name
    assert set(assay.__all__) <= set(dir(assay))
    with pytest.raises(AttributeError, match="benhc"):
        _ = assay.benhc


def test_errors_carry_their_code_through_pickle():
    import pickle

    error = pickle.loads(pickle.dumps(assay.AssayError("no", code="not_found", stage="load")))
    assert (error.code, error.stage, error.message) == ("not_found", "load", "no")
    assert str(error) == "no [not_found while in stage load]"


def test_a_program_is_found_where_the_environment_says(tmp_path, monkeypatch):
    program = tmp_path / "assay"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("ASSAY_BIN_DIR", str(tmp_path))
    assert _paths.find_program("assay") == program


def test_a_missing_program_says_where_it_was_sought_and_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_BIN_DIR", str(tmp_path))
    with pytest.raises(assay.AssayError, match="assay-runner-absent") as caught:
        _paths.find_program("assay-runner-absent")
    assert str(tmp_path) in caught.value.message
    assert "--target assay-runner-absent" in caught.value.message
    assert "pip install assay" not in caught.value.message


def test_the_home_is_that_of_the_configuration_without_a_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("ASSAY_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert _paths.assay_home() == tmp_path / "data" / "assay"
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert _paths.assay_home() == pathlib.Path.home() / ".local" / "share" / "assay"
    config = tmp_path / "assay" / "config.json"
    config.parent.mkdir()
    config.write_text('{"schema": "assay/config/1", "home": "~/results"}')
    assert _paths.assay_home() == pathlib.Path.home() / "results"
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "variable"))
    assert _paths.assay_home() == tmp_path / "variable"
    monkeypatch.delenv("ASSAY_HOME")
    config.write_text("{")
    with pytest.raises(assay.AssayError, match="assay init --reset"):
        _paths.assay_home()


def test_a_registered_build_is_found_by_its_label(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    registry = tmp_path / "engines" / "engines.json"
    registry.parent.mkdir()
    registry.write_text('{"builds": [{"name": "e", "label": "mine", "runner": "/x/runner"}]}')
    assert str(_paths.find_runner("e@mine")) == "/x/runner"
    with pytest.raises(assay.AssayError, match=r"no engine 'f'; here: .*e@mine"):
        _paths.find_runner("f")
    registry.write_text("{")
    with pytest.raises(assay.AssayError, match="damaged"):
        _paths.find_runner("e@mine")
