"""The record of what a job reads: an edit of any of it changes the record."""

import hashlib
import json
import random
import sys
from pathlib import Path

import pytest
from toolchain_client import Client

STUB = [sys.executable, str(Path(__file__).parent / "toolchain_stub_server.py"), "1"]

FACTORY = """
import glob, json, os, sys
import helper
from package import part

def read():
    here = os.path.dirname(os.path.abspath(__file__))
    json.load(open(os.path.join(here, "settings.json")))
    with open("weights.bin", "rb") as file:
        file.read()
    fd = os.open(os.path.join(here, "raw.bin"), os.O_RDONLY)
    os.close(fd)
    try:
        open(os.path.join(here, "local.json"))
    except FileNotFoundError:
        pass
    with open(os.path.join(here, "made.txt"), "w") as file:
        file.write(str(os.getpid()))
    open(os.path.join(here, "made.txt")).read()
    glob.glob(os.path.join(here, "checkpoints", "*.pt"))
    child = os.fork()
    if child == 0:
        open(os.path.join(here, "shard.bin")).read()
        os._exit(0)
    os.waitpid(child, 0)
    dict(os.environ)
    return os.getenv("ASSAY_TEST_SCALE", "1")
"""

FILES = {
    "net.py": FACTORY,
    "helper.py": "SCALE = 1.0",
    "package/__init__.py": "",
    "package/part.py": "import helper",
    "settings.json": "{}",
    "weights.bin": "w",
    "raw.bin": "r",
    "shard.bin": "s",
    "checkpoints/one.pt": "1",
    "unread.txt": "nobody reads it",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a factory and what it reads, which is the current one."""
    folder = tmp_path / "project"
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.chdir(folder)
    return folder


def record(project, out, **environment):
    """The document of a job that calls the factory."""
    client = Client(STUB, **environment)
    done = client.run(job="build", factory=str(project / "net.py"), out_dir=str(out))
    assert done["outcome"] == "completed", done
    assert client.close() == 0
    return json.loads((out / "dependencies.json").read_text())


def content_of(document):
    """Paths and digests, without times and inodes."""
    files = [(one["path"], one["sha256"]) for one in document["files"]]
    folders = [(one["path"], one["sha256"]) for one in document["folders"]]
    variables = [(one["name"], one["sha256"]) for one in document["variables"]]
    return files, folders, variables


def test_files_folders_and_variables_that_a_job_reads_are_recorded(project, tmp_path):
    document = record(project, tmp_path / "out")
    paths = {one["path"]: one for one in document["files"]}
    names = ["net.py", "helper.py", "package/__init__.py", "package/part.py", "settings.json"]
    for name in (*names, "raw.bin", "shard.bin"):
        content = FILES[name].encode()
        assert paths.pop(str(project / name))["sha256"] == hashlib.sha256(content).hexdigest()
    assert paths.pop("weights.bin")["bytes"] == 1, "a relative path stays relative"
    assert paths.pop(str(project / "local.json"))["sha256"] is None, "it was looked for"
    assert paths == {}, "nothing that is installed, made by the job itself or not read"
    assert [one["path"] for one in document["folders"]] == [str(project / "checkpoints")]
    assert document["variables"] == [{"name": "ASSAY_TEST_SCALE", "sha256": None}]


@pytest.mark.slow
def test_an_edit_of_anything_recorded_changes_the_record(project, tmp_path):
    """In random order, each once; an unchanged tree gives the same record."""
    document = record(project, tmp_path / "first")
    before = content_of(document)
    assert content_of(record(project, tmp_path / "second")) == before
    paths = [project / one["path"] for one in document["files"]]
    random.Random(5).shuffle(paths)
    for number, path in enumerate([*paths, project / "checkpoints/two.pt"]):
        old = path.read_text() if path.exists() else ""
        path.write_text(old + "\n")
        after = content_of(record(project, tmp_path / f"edit{number}"))
        assert after != before, path
        before = after
    scaled = content_of(record(project, tmp_path / "scaled", ASSAY_TEST_SCALE="3"))
    assert scaled != before


def test_a_file_that_changes_while_it_is_read_equals_nothing(project, tmp_path):
    (project / "net.py").write_text(
        "from pathlib import Path\n"
        "def read():\n"
        "    Path('weights.bin').read_text()\n"
        "    Path('other.bin').write_text('other')\n"
        "    Path('other.bin').rename('weights.bin')\n"
    )
    document = record(project, tmp_path / "out")
    digests = {one["path"]: one["sha256"] for one in document["files"]}
    assert digests["weights.bin"] == "changed while it was read"


def test_a_job_that_fails_leaves_no_record(project, tmp_path):
    (project / "net.py").write_text("raise ValueError")
    client = Client(STUB)
    done = client.run(job="build", factory=str(project / "net.py"), out_dir=str(tmp_path / "out"))
    assert done["outcome"] == "aot_error"
    assert client.close() == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["log.txt"]


def test_packages_that_only_the_job_imports_are_recorded_with_their_files(project, tmp_path):
    (project / "net.py").write_text("import pytest\ndef read(): pass\n")
    document = record(project, tmp_path / "out")
    names = [Path(one["path"]).parent.name for one in document["installed"]]
    assert [name for name in names if name.startswith("pytest-")], names
    assert all(one["path"].endswith("RECORD") for one in document["installed"])
