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
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.toolchain.environment_reads import hear_variables
from assay.toolchain.files import sha256_of_file, write_json
from assay.toolchain.installed_code import find_records, has_users, installed_folders, is_below

SCHEMA = "assay/dependencies/1"
DOCUMENT = "dependencies.json"

CHANGED = "changed while it was read"
"""Takes the place of a digest; nothing ever equals it."""

_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/etc", "/usr/lib", "/usr/share", "/lib")
_USERS = ("/dev/shm", "/run/media", "/run/mount", "/run/user")
"""Folders of the system in which users keep files: in memory, on disks that they mount."""

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

    `out`: the folder whose files the job makes. `own`: folders of the user, wherever they are.
    """

    out: str
    own: tuple[str, ...] = ()
    folder: str = field(default_factory=os.getcwd)
    files: dict[str, _State | None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    programs: dict[str, None] = field(default_factory=dict)
    variables: dict[str, str | None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    made_files: set[str] = field(default_factory=set)
    made_folders: set[str] = field(default_factory=set)
    process: int = field(default_factory=os.getpid)

    def start(self) -> None:
        """Listens to everything that this process reads from now on."""
        hearers: dict[str, Callable[..., None]] = {
            "open": self._hear_open,
            "os.listdir": self._hear_listing,
            "os.scandir": self._hear_listing,
            "os.mkdir": self._hear_folder,
            "sqlite3.connect": self._hear_database,
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
        if name in self.files or os.path.abspath(name) in self.made_files:
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
                {**_path_entry(name), "sha256": digest_listing(name)}
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
        """Writes the document next to the files that the job made."""
        write_json(Path(self.out, DOCUMENT), self.document(packages))

    def _hear_open(self, path: Any, mode: Any, flags: int) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return
        access = flags & os.O_ACCMODE
        if access != os.O_RDONLY:
            self._hear_writing(self._name(path), flags)
        if access != os.O_WRONLY:  # Nothing is read of what this job made itself.
            self.add_file(path, may_lack=mode is not None)  # None: os.open, perhaps in a folder.

    def _hear_writing(self, name: str, flags: int) -> None:
        self.written.add(name)
        is_new = bool(flags & os.O_CREAT) and _State.of(name) is None
        if (is_new or flags & os.O_TRUNC) and self.files.get(name) is None:
            self.made_files.add(os.path.abspath(name))

    def _hear_database(self, database: Any) -> None:
        """SQLite opens a file in native code, to read and to write."""
        if isinstance(database, str) and database.startswith("file:"):
            database = urllib.parse.unquote(urllib.parse.urlsplit(database).path)
        self._hear_open(database, None, os.O_RDWR | os.O_CREAT)

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
            self.made_folders.add(os.path.abspath(name))

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
        is_system = is_below(path, _SYSTEM) and not is_below(path, (*_USERS, *self.own))
        others = (*installed_folders(), self.out, *self.made_folders)
        return not (is_system or path in self.made_files or is_below(path, others))

    def _describe(self, name: str) -> dict[str, Any] | None:
        """None of what is no file."""
        if os.path.isdir(name):
            return None
        before, now = self.files[name], _State.of(name)
        if before != now and name not in self.written:
            return {**_path_entry(name), "bytes": None, "sha256": CHANGED}
        return _describe_file(name, now)

    def _tell_parent(self, name: str) -> None:
        """Called in a forked child, such as a worker of a data loader, whose notes end with it."""
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


def folders_of_request(request: Mapping[str, Any]) -> tuple[str, ...]:
    """The folders of the files that a job's request names, as `file.py:name` too."""
    folders: dict[str, None] = {}
    values: list[Any] = list(request.values())
    while values:
        value = values.pop()
        if isinstance(value, Mapping | list):
            values += value.values() if isinstance(value, Mapping) else value
        elif isinstance(value, str):
            path = value.removeprefix("file:")
            for name in (path, path.rpartition(":")[0]):
                if os.path.isabs(name) and _State.of(name) is not None:
                    folders.setdefault(os.path.dirname(os.path.normpath(name)))
    return tuple(folders)


def _path_entry(name: str) -> dict[str, str]:
    """{path}; {path_hex} of bytes that are no UTF-8, which JSON cannot say."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return {"path_hex": os.fsencode(name).hex()}
    return {"path": name}


def _describe_file(name: str, state: _State | None) -> dict[str, Any]:
    """{path, bytes, inode, changed_ns, sha256}; nulls for a file that is not there."""
    if state is None:
        return {**_path_entry(name), "bytes": None, "sha256": None}
    try:
        digest = sha256_of_file(Path(name))
    except OSError:
        digest = CHANGED
    return {
        **_path_entry(name),
        **{"bytes": state.bytes, "inode": state.inode},
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
