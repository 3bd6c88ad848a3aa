"""Temporary folders that the next `assay` command removes when their process was killed.

They are named, marked and locked as those of the C++ side (src/assay/base/abandoned_folders.h):
"assay-WHAT.XXXXXX" with the sticky bit, and a lock on the folder itself that the kernel gives up at
the end of the last process that holds it.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
import string
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_LETTERS = string.ascii_letters + string.digits
_RANDOM_LETTERS = 6
_MARKED_MODE = 0o1700
_scratch: Path | None = None


class TemporaryFolder:
    """A folder with its files, until the end of a `with`, or of the object.

    Attributes:
        path: where it is.
        remove: removes it with all that it holds; does nothing the second time.
    """

    def __init__(self, what: str, *, below: Path | None = None) -> None:
        """Makes it, as assay-`what`.XXXXXX, for this user alone.

        `below`: not the scratch folder. The next command finds it only where $TMPDIR is the same.
        """
        while True:
            self.path = _make_folder(what, below)
            lock = _lock_folder(self.path)
            if lock is not None:
                self.remove = weakref.finalize(self, _remove_folder, self.path, lock)
                return

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def use_as_scratch(folder: Path) -> None:
    """Has this process make its temporary folders there, in place of $TMPDIR.

    $TMPDIR may be in memory, as in a sandbox, and too small for copies of a model's weights.
    """
    global _scratch
    _scratch = folder


@contextlib.contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Has other packages make their temporary files there until the end."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _make_folder(what: str, below: Path | None) -> Path:
    while True:
        letters = "".join(secrets.choice(_LETTERS) for _ in range(_RANDOM_LETTERS))
        folder = Path(below or _scratch or tempfile.gettempdir(), f"assay-{what}.{letters}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder


def _remove_folder(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _lock_folder(folder: Path) -> int | None:
    """The descriptor that holds the lock; None if the folder was taken for an abandoned one."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with contextlib.suppress(OSError):  # Where the file system or a sandbox allows no mark.
        os.fchmod(lock, _MARKED_MODE)
    with contextlib.suppress(OSError):  # Where the file system knows no such locks.
        fcntl.flock(lock, fcntl.LOCK_SH)  # Waits for who is about to remove it.
    if folder.is_dir():
        return lock
    os.close(lock)
    return None
