"""Temporary folders of the Python side."""

import fcntl
import gc
import os
import re
import tempfile
from pathlib import Path

import pytest

from assay.toolchain.temporary import TemporaryFolder, temporary_files_in, use_as_scratch


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_folder_is_named_so_that_assay_removes_it(base: Path) -> None:
    with TemporaryFolder("aot") as folder:
        assert folder.parent == base
        assert re.fullmatch(r"assay-aot\.[A-Za-z0-9]{6}", folder.name)
        assert folder.stat().st_mode & 0o777 == 0o700


def test_folder_is_locked_while_it_is_in_use() -> None:
    with TemporaryFolder("aot") as folder:
        other = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)


def test_folder_goes_with_its_use(base: Path) -> None:
    with TemporaryFolder("aot") as folder:
        (folder / "file").write_text("x")
    assert list(base.iterdir()) == []
    made = TemporaryFolder("aot")
    made.remove()
    made.remove()
    assert list(base.iterdir()) == []
    made = TemporaryFolder("aot")
    del made
    gc.collect()
    assert list(base.iterdir()) == []


def test_folder_that_was_taken_for_an_abandoned_one_is_made_anew(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    taken: list[int] = []

    def take_first(descriptor: int, operation: int) -> None:
        if not taken:
            next(base.iterdir()).rmdir()
        taken.append(descriptor)
        lock(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", take_first)
    with TemporaryFolder("aot") as folder:
        assert folder.is_dir()
    assert len(taken) == 2


def test_a_job_works_beside_its_outputs_and_not_in_tmpdir(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr("assay.toolchain.temporary._scratch", None)
    use_as_scratch(out)
    with TemporaryFolder("onnx") as folder, temporary_files_in(folder):
        assert folder.parent == out
        assert Path(tempfile.gettempdir()) == folder, "as other packages see it"
    assert list(out.iterdir()) == []
    assert Path(tempfile.gettempdir()) == base
