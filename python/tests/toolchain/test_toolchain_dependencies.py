"""The record of what a job reads: an edit of any of it changes the record."""

import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toolchain_client import Client

from assay.toolchain.dependencies import Recorder, folders_of_request
from assay.toolchain.server.job_worker import write_record

STUB = [sys.executable, str(Path(__file__).parent / "toolchain_stub_server.py"), "1"]

FACTORY = """
import glob, json, os, sys
import helper
import numpy
from assay.toolchain.models.plugins import import_object
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
    import_object(os.path.join(here, "backend.py") + ":Partitioner")()
    list(import_object(os.path.join(here, "data.py") + ":samples")())
    numpy.load(os.path.join(here, "calibration.npy"))
    numpy.load(os.path.join(here, "mapped.npy"), mmap_mode="r")
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
    "backend.py": "import rules\nclass Partitioner:\n    taken = rules.TAKEN",
    "rules.py": "TAKEN = ['aten.add.Tensor']",
    "data.py": "import augment\ndef samples():\n    yield open('index.json').read(), None",
    "augment.py": "NOISE = 0.1",
    "index.json": "[]",
    "unread.txt": "nobody reads it",
}

ARRAYS = ("calibration.npy", "mapped.npy")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a factory and what it reads, which is the current one."""
    folder = tmp_path / "project"
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for number, name in enumerate(ARRAYS):
        np.save(folder / name, np.full(3, number))
    monkeypatch.chdir(folder)
    return folder


def record(project, out, **environment):
    """The document of a job that calls the factory, of a server of its own."""
    client = Client(STUB, **environment)
    document = record_by(client, project, out)
    assert client.close() == 0
    return document


def record_by(client, project, out):
    """The document of a job that calls the factory."""
    done = client.run(job="build", factory=str(project / "net.py"), out_dir=str(out))
    assert done["outcome"] == "completed", done
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
    names += ["backend.py", "rules.py", "data.py", "augment.py", *ARRAYS]
    for name in (*names, "raw.bin", "shard.bin"):
        content = (project / name).read_bytes()
        assert paths.pop(str(project / name))["sha256"] == hashlib.sha256(content).hexdigest()
    assert paths.pop("weights.bin")["bytes"] == 1, "a relative path stays relative"
    assert paths.pop("index.json")["bytes"] == 2
    assert paths.pop(str(project / "local.json"))["sha256"] is None, "it was looked for"
    assert paths == {}, "nothing that is installed, made by the job itself or not read"
    assert [one["path"] for one in document["folders"]] == [str(project / "checkpoints")]
    assert document["variables"] == [{"name": "ASSAY_TEST_SCALE", "sha256": None}]


@pytest.mark.slow
def test_an_edit_of_anything_recorded_changes_the_record(project, tmp_path):
    """Visits files in random order, each once; an unchanged tree gives the same record."""
    client = Client(STUB)
    document = record_by(client, project, tmp_path / "first")
    before = content_of(document)
    assert content_of(record_by(client, project, tmp_path / "second")) == before
    paths = [project / one["path"] for one in document["files"]]
    random.Random(5).shuffle(paths)
    for number, path in enumerate([*paths, project / "checkpoints/two.pt"]):
        old = path.read_bytes() if path.exists() else b""
        path.write_bytes(old + b"\n")
        after = content_of(record_by(client, project, tmp_path / f"edit{number}"))
        assert after != before, path
        before = after
    assert client.close() == 0
    scaled = content_of(record(project, tmp_path / "scaled", ASSAY_TEST_SCALE="3"))
    assert scaled != before


def test_what_is_opened_to_read_and_write_is_read_unless_the_job_made_it(project, tmp_path):
    """Opens weights as `numpy.memmap` does by default; a log is only written, a lock is empty."""
    names = ["memory.bin", "table.db", "plus.bin", "added.txt", "log.txt", "lock", "new.bin"]
    for name in names[:-1]:
        Path(name).write_text("before")
    Path("table.db").unlink()
    with closing(sqlite3.connect("table.db")) as table:
        table.execute("create table scales (value)")
    (project / "net.py").write_text(
        "import sqlite3\n"
        "def read():\n"
        "    open('memory.bin', 'r+b').close()\n"
        "    sqlite3.connect('file:table.db?mode=ro', uri=True).close()\n"
        "    with open('plus.bin', 'a+') as file:\n"
        "        file.write('!')\n"
        "    with open('added.txt', 'a') as file:\n"
        "        file.write('!')\n"
        "    open('added.txt').read()\n"
        "    with open('log.txt', 'a') as file:\n"
        "        file.write('!')\n"
        "    open('lock', 'w+').read()\n"
        "    with open('new.bin', 'w+') as file:\n"
        "        file.write('!')\n"
        "    open('new.bin', 'r+').read()\n"
    )
    document = record(project, tmp_path / "out")
    read = {one["path"]: one["sha256"] for one in document["files"]}
    assert read.pop(str(project / "net.py"))
    assert read == {
        "memory.bin": hashlib.sha256(b"before").hexdigest(),
        "table.db": hashlib.sha256(Path("table.db").read_bytes()).hexdigest(),
        "plus.bin": hashlib.sha256(b"before!").hexdigest(),
        "added.txt": hashlib.sha256(b"before!").hexdigest(),
    }


def test_files_of_users_count_in_folders_of_the_system_too(tmp_path):
    own = [
        *("/dev/shm/net/w.bin", "/run/media/me/disk/w.bin", "/run/user/7/w.bin"),
        *("/run/mount/w.bin", "/usr/share/models/util.py"),
    ]
    recorder = Recorder(str(tmp_path), own=("/usr/share/models",))
    for name in [*own, "/etc/hosts.here", "/dev/none", "/run/none", "/usr/share/other/none"]:
        recorder.add_file(name)
    assert [one["path"] for one in recorder.document()["files"]] == own


def test_a_job_below_shared_memory_records_what_it_reads(tmp_path):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        project = Path(folder)
        (project / "net.py").write_text(f"def read():\n    open('{folder}/w.bin').read()\n")
        (project / "w.bin").write_text("w")
        document = record(project, tmp_path / "out")
    assert [one["path"] for one in document["files"]] == [f"{folder}/net.py", f"{folder}/w.bin"]


def test_folders_of_a_request_are_those_of_the_files_that_it_names(tmp_path):
    (tmp_path / "net.py").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data/in.npz").touch()
    request = {
        "model": f"{tmp_path}/net.py:Net",
        "inputs": [{"file": f"file:{tmp_path}/data/in.npz"}, 3, "torchvision:resnet18"],
    }
    assert sorted(folders_of_request(request)) == [str(tmp_path), str(tmp_path / "data")]


def test_a_name_that_is_not_utf8_is_recorded_as_its_bytes(project, tmp_path):
    """Makes names like those of archives that were made with Latin-1 names."""
    name = os.fsencode(project) + b"/caf\xe9.txt"
    Path(os.fsdecode(name)).write_text("w")
    (project / "net.py").write_text(
        "import os\n"
        f"def read():\n    open({name!r}).read()\n    os.listdir({os.fsencode(project)!r})\n"
    )
    document = record(project, tmp_path / "out")
    entries = [one for one in document["files"] if "path" not in one]
    assert [bytes.fromhex(one["path_hex"]) for one in entries] == [name]
    assert entries[0]["sha256"] == hashlib.sha256(b"w").hexdigest()
    assert "\\ud" not in (tmp_path / "out/dependencies.json").read_text()


def test_an_error_that_names_a_file_whose_name_is_not_utf8_reaches_its_reader(project, tmp_path):
    (project / "net.py").write_text("def read():\n    raise ValueError('caf\\udce9 \\U0001f480')\n")
    client = Client(STUB)
    done = client.run(job="build", factory=str(project / "net.py"), out_dir=str(tmp_path / "out"))
    assert client.close() == 0
    json.dumps(done, ensure_ascii=False).encode()  # No lone surrogate.
    assert "caf\\udce9 \U0001f480" in done["text"], done


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


ENVIRONMENT = """
import os
from assay.toolchain.environment_reads import hear_variables

heard = {}
hear_variables(heard.setdefault)
code = "import os; [os.environ.get(name) for name in ('ASSAY_CONFORM_MODELS', 'HOME')]"
exec(compile(code, os.__file__.replace("os.py", "installed.py"), "exec"))
assert heard == {"ASSAY_CONFORM_MODELS": "/models"}, heard
"""


BYTES = '''
import os
from assay.toolchain.environment_reads import hear_variables

heard = {}
hear_variables(heard.setdefault)
code = """
assert os.getenvb(b"ASSAY_TEST_SCALE") == os.environb[b"ASSAY_TEST_SCALE"] == b"2"
assert os.environb.get(b"ASSAY_TEST_OTHER") is None
"""
exec(compile(code, "/models/net.py", "exec"))
assert heard == {"ASSAY_TEST_SCALE": "2", "ASSAY_TEST_OTHER": None}, heard
'''


def test_a_variable_that_is_read_as_bytes_is_recorded_as_text():
    environment = {**os.environ, "ASSAY_TEST_SCALE": "2"}
    subprocess.run([sys.executable, "-c", BYTES], env=environment, check=True)


def test_a_record_that_cannot_be_written_is_a_failure_of_ours(tmp_path):
    unwritable: dict[Any, str | None] = {b"SCALE": None}
    recorder = Recorder(str(tmp_path), variables=unwritable)
    done = write_record(recorder, [], {"event": "done", "outcome": "completed", "stage": "save"})
    assert (done["event"], done["stage"]) == ("done", "save")
    assert done["reason_code"] == "internal_error"
    assert "recording what the job read" in done["text"]


IDENTITY = """
from assay.toolchain.environment_reads import hear_variables
from assay.toolchain.model_folders import digest_models, model_folders

heard = {}
hear_variables(heard.setdefault)
code = "digests, heard_of_digest = digest_models(), len(heard); folders = model_folders()"
exec(compile(code, hear_variables.__code__.co_filename, "exec"))
assert len(digests) == len(folders) == 1
assert heard_of_digest == 0
assert heard == {"ASSAY_CONFORM_MODELS": "/models"}, heard
"""


def test_the_identity_does_not_make_a_job_depend_on_the_folders_of_models():
    environment = {**os.environ, "ASSAY_CONFORM_MODELS": "/models"}
    subprocess.run([sys.executable, "-c", IDENTITY], env=environment, check=True)


def test_a_variable_by_which_assay_finds_a_model_is_recorded():
    """Another folder may have another model of the same name."""
    environment = {**os.environ, "ASSAY_CONFORM_MODELS": "/models"}
    subprocess.run([sys.executable, "-c", ENVIRONMENT], env=environment, check=True)
