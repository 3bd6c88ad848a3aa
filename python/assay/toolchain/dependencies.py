"""Records what a job reads, as compilers do; docs/contracts/artifacts.md.

An audit hook hears every open, listing and start of a program in the process. Readers that open
files in native code are wrapped, and so is the lookup of environment variables.

Files of the interpreter, its packages and the system are left out. Packages that the server did not
import at its start are recorded as the lists of their installed files.
"""

# Paths stay as the job wrote them, and a hook has to be fast.
# ruff: noqa: PTH100, PTH109, PTH110, PTH112, PTH113, PTH116, PTH117, PTH120, PTH208

import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.toolchain.environment_reads import hear_variables
from assay.toolchain.files import sha256_of_file, write_json
from assay.toolchain.installed_code import find_records, has_users, installed_folders, is_below

SCHEMA = "assay/dependencies/1"
DOCUMENT = "dependencies.json"

CHANGED = "changed while it was read"
"""In place of a digest, so that nothing ever equals it."""

_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/etc", "/usr/lib", "/usr/share", "/lib")
_IMPORTERS = ("<frozen importlib", os.path.dirname(importlib.__file__))
_CACHE_FOLDER = "__pycache__"
_CHILDREN = "read_by_children.jsonl"

_NATIVE_READERS = (
    ("safetensors", "safe_open"),
    ("safetensors.torch", "safe_open"),
    ("safetensors.numpy", "safe_open"),
    ("torch", "from_file"),
    ("torch._C", "PyTorchFileReader"),
    ("torch._C", "import_ir_module"),
)
"""Functions and classes of loaded modules that open a file without Python; an argument names it."""


@dataclass(frozen=True)
class _State:
    """Tells a file's content from another without reading it."""

    bytes: int
    inode: int
    changed_ns: int

    @classmethod
    def of(cls, path: str) -> "_State | None":
        """None of what is no file."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return cls(status.st_size, status.st_ino, status.st_ctime_ns)


@dataclass
class Recorder:
    """Collects what is read from `start` on. One for a process: an audit hook stays for ever.

    `out`: the folder whose files the job makes.
    """

    out: str
    folder: str = field(default_factory=os.getcwd)
    files: dict[str, _State | None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    programs: dict[str, None] = field(default_factory=dict)
    variables: dict[str, str | None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    process: int = field(default_factory=os.getpid)

    def start(self) -> None:
        """Listens to everything that this process reads from now on."""
        hearers: dict[str, Callable[..., None]] = {
            "open": self._hear_open,
            "os.listdir": self._hear_listing,
            "os.scandir": self._hear_listing,
            "os.mkdir": self._hear_folder,
            "ctypes.dlopen": self._hear_library,
            "subprocess.Popen": self._hear_program,
        }

        def hear(event: str, arguments: tuple[Any, ...]) -> None:
            if event in hearers:  # Most events are none of these: id() is one.
                hearers[event](*arguments)

        sys.addaudithook(hear)
        self._wrap_native_readers()
        hear_variables(self.variables.setdefault)

    def add_file(self, path: Any, *, may_lack: bool = True) -> None:
        """A file that is read; with `may_lack` also one that was looked for in vain."""
        if not isinstance(path, str | bytes | os.PathLike):
            return
        name = _source(self._name(path))
        if name in self.files or name in self.written:
            return
        state = _State.of(name)
        if state is not None or may_lack:
            self.files[name] = state
            self._tell_parent(name)

    def document(self, packages: Iterable[str] = ()) -> dict[str, Any]:
        """Everything that was read, as the contract writes it.

        `packages`: top-level modules of installed packages that may have shaped the result.
        """
        self._hear_children()
        files = [self._describe(name) for name in list(self.files) if self._counts(name)]
        fixed = [*self.programs, *find_records(packages)]
        return {
            "schema": SCHEMA,
            "recorded_ns": time.time_ns(),
            "files": [file for file in files if file is not None],
            "folders": [
                {"path": name, "sha256": digest_listing(name)}
                for name in list(self.folders)
                if self._counts(name) and os.path.isdir(name)
            ],
            "installed": [_describe_file(name, _State.of(name)) for name in fixed],
            "variables": [
                {"name": name, "sha256": None if value is None else _digest(value)}
                for name, value in self.variables.items()
            ],
        }

    def write(self, packages: Iterable[str] = ()) -> None:
        """Writes the document beside the files that the job made."""
        write_json(Path(self.out, DOCUMENT), self.document(packages))

    def _hear_open(self, path: Any, mode: Any, flags: int) -> None:
        if flags & os.O_ACCMODE == os.O_RDONLY:
            self.add_file(path, may_lack=mode is not None)  # None: os.open, perhaps in a folder.
        elif isinstance(path, str | bytes | os.PathLike):
            self.written.add(self._name(path))

    def _hear_listing(self, path: Any = None) -> None:
        caller = sys._getframe(2)
        if isinstance(path, int) or caller.f_code.co_filename.startswith(_IMPORTERS):
            return
        name = self._name("." if path is None else path)
        if name not in sys.path or has_users(caller):  # Others look for packages there.
            self.folders.setdefault(name)

    def _hear_folder(self, path: Any, *_: Any) -> None:
        name = self._name(path)
        if not os.path.exists(name):
            self.made.add(os.path.abspath(name))

    def _hear_library(self, name: Any) -> None:
        if isinstance(name, str) and "/" in name and not is_below(name, installed_folders()):
            self.programs.setdefault(os.path.abspath(name))

    def _hear_program(self, program: Any, *_: Any) -> None:
        found = shutil.which(os.fsdecode(program))
        if found is not None and not is_below(found, installed_folders()):
            self.programs.setdefault(str(Path(found).absolute()))

    def _name(self, path: str | bytes | os.PathLike[Any]) -> str:
        """The path as it was given: a relative one depends on the current folder."""
        name = os.fsdecode(path)
        if os.path.isabs(name) or os.getcwd() == self.folder:
            return os.path.normpath(name)
        return os.path.abspath(name)

    def _counts(self, name: str) -> bool:
        path = os.path.abspath(name)
        return not is_below(path, (*_SYSTEM, *installed_folders(), self.out, *self.made))

    def _describe(self, name: str) -> dict[str, Any] | None:
        """None of what is no file, and of what only this job wrote."""
        if os.path.isdir(name):
            return None
        before, now = self.files[name], _State.of(name)
        if before is None and name in self.written:
            return None
        if before != now and name not in self.written:
            return {"path": name, "bytes": None, "sha256": CHANGED}
        return _describe_file(name, now)

    def _tell_parent(self, name: str) -> None:
        """In a forked child, such as a worker of a data loader: its own notes end with it."""
        if os.getpid() != self.process:
            with contextlib.suppress(OSError), Path(self.out, _CHILDREN).open("a") as file:
                file.write(json.dumps(os.path.abspath(name)) + "\n")

    def _hear_children(self) -> None:
        notes = Path(self.out, _CHILDREN)
        if notes.exists():
            for line in notes.read_text().splitlines():
                self.add_file(json.loads(line))
            notes.unlink()

    def _wrap_native_readers(self) -> None:
        for module, name in _NATIVE_READERS:
            reader = getattr(sys.modules.get(module), name, None)
            if isinstance(reader, type) and "__init__" in vars(reader):
                reader.__init__ = self._wrapped(reader.__init__)  # type: ignore[misc]
            elif reader is not None:
                setattr(sys.modules[module], name, self._wrapped(reader))

    def _wrapped(self, reader: Callable[..., Any]) -> Callable[..., Any]:
        def read(*arguments: Any, **named: Any) -> Any:
            for argument in (*arguments, *named.values()):
                if isinstance(argument, str | os.PathLike) and os.path.isfile(argument):
                    self.add_file(argument)
            return reader(*arguments, **named)

        return read


def digest_listing(folder: str) -> str | None:
    """Digest of the names in a folder, in the order of their bytes; None: there is no folder."""
    try:
        names = sorted(os.fsencode(name) for name in os.listdir(folder) if name != _CACHE_FOLDER)
    except OSError:
        return None
    return hashlib.sha256(b"".join(name + b"\n" for name in names)).hexdigest()


def _describe_file(name: str, state: _State | None) -> dict[str, Any]:
    """{path, bytes, inode, changed_ns, sha256}; nulls for a file that is not there."""
    if state is None:
        return {"path": name, "bytes": None, "sha256": None}
    try:
        digest = sha256_of_file(Path(name))
    except OSError:
        digest = CHANGED
    return {
        **{"path": name, "bytes": state.bytes, "inode": state.inode},
        **{"changed_ns": state.changed_ns, "sha256": digest},
    }


def _source(name: str) -> str:
    """The Python file that a cached one was compiled from, where that is there."""
    if not name.endswith(".pyc"):
        return name
    try:
        source = importlib.util.source_from_cache(name)
    except ValueError:
        return name
    return source if os.path.exists(source) else name


def _digest(value: str) -> str:
    return hashlib.sha256(os.fsencode(value)).hexdigest()
