"""A program that does on order what a program from elsewhere must not be able to do.

hostile_program.py ATTACK SECRET TARGET PID PORT. Ends with code 3; its last words are "reached" or
"refused" with the reason. Python's standard library only.
"""

import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

GIVEN = sys.argv[2:] if len(sys.argv) == 6 else ["", "", "0", "0"]
SECRET, TARGET = Path(GIVEN[0]), Path(GIVEN[1])
PID, PORT = int(GIVEN[2]), int(GIVEN[3])
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = -100
FCHMODAT2, SETXATTRAT, FILE_SETATTR = 452, 463, 469  # On all architectures.


def ON_OPENED(act: Callable[[int], int]) -> Callable[[bytes], int]:
    """The change of a file that is open for reading."""

    def change(path: bytes) -> int:
        file: int = LIBC.open(path, os.O_RDONLY)
        done = act(file) if file >= 0 else -1
        LIBC.close(file)
        return done

    return change


CHANGES: tuple[Callable[[bytes], int], ...] = (
    lambda path: LIBC.truncate(path, 0),
    lambda path: LIBC.chmod(path, 0o777),
    lambda path: LIBC.fchmodat(HERE, path, 0o4777, 0),
    lambda path: LIBC.syscall(FCHMODAT2, HERE, path, 0o4777, 0),
    lambda path: LIBC.chown(path, os.getuid(), os.getgid()),
    lambda path: LIBC.lchown(path, os.getuid(), os.getgid()),
    lambda path: LIBC.utimes(path, None),
    lambda path: LIBC.utimensat(HERE, path, None, 0),
    lambda path: LIBC.setxattr(path, b"user.assay", b"x", 1, 0),
    lambda path: LIBC.lsetxattr(path, b"user.assay", b"x", 1, 0),
    lambda path: LIBC.syscall(SETXATTRAT, HERE, path, 0, b"user.assay", b"\0" * 16, 16),
    lambda path: LIBC.syscall(FILE_SETATTR, HERE, path, b"\0" * 24, 24, 0),
    lambda path: LIBC.link(path, path + b".link"),
    lambda path: LIBC.rename(path, path + b".moved"),
    ON_OPENED(lambda file: LIBC.fchmod(file, 0o4777)),
    ON_OPENED(lambda file: LIBC.fchown(file, os.getuid(), os.getgid())),
    ON_OPENED(lambda file: LIBC.futimens(file, None)),
    ON_OPENED(lambda file: LIBC.fsetxattr(file, b"user.assay", b"x", 1, 0)),
)


def read_home() -> None:
    SECRET.read_text()


def read_by_symlink() -> None:
    link = Path(os.environ["TMPDIR"]) / "link"
    link.symlink_to(SECRET)
    link.read_text()


def read_by_proc_root() -> None:
    Path(f"/proc/self/root{SECRET}").read_text()


def read_by_init_root() -> None:
    Path(f"/proc/1/root{SECRET}").read_text()


def list_home() -> None:
    list(SECRET.parent.iterdir())


def write_store() -> None:
    with TARGET.open("a") as file:
        file.write("x")


def remove_store() -> None:
    TARGET.unlink()


def replace_program() -> None:
    Path(sys.argv[0]).write_text("")


def change_files() -> None:
    """Changes what Landlock does not govern; refused where each is, with its cause."""
    causes = []
    for path in (TARGET, TARGET.parent, SECRET, SECRET.parent, Path(sys.argv[0])):
        for change in CHANGES:
            ctypes.set_errno(0)
            if change(os.fsencode(path)) == 0:
                return
            causes.append(ctypes.get_errno())
    raise OSError(max(causes, key=causes.count), os.strerror(max(causes, key=causes.count)))


def connect_tcp() -> None:
    socket.create_connection(("127.0.0.1", PORT), timeout=5)


def send_udp() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))


def bind_abstract() -> None:
    socket.socket(socket.AF_UNIX).bind("\0assay-hostile-program")


def fill_disk() -> None:
    with (Path(os.environ["TMPDIR"]) / "large").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 3 << 30)


def signal_others() -> None:
    os.kill(PID, 0)


def trace_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_ATTACH, os.getppid(), None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.waitpid(os.getppid(), 0)  # Left traced, it would stay stopped.
    libc.ptrace(PTRACE_DETACH, os.getppid(), None, None)


def read_environment_of_others() -> None:
    Path(f"/proc/{PID}/environ").read_bytes()


def gain_namespace() -> None:
    subprocess.run(["unshare", "-Ur", "true"], check=True)


def leave_daemons() -> None:
    for _ in range(3):
        subprocess.Popen(["sleep", "1000"], start_new_session=True)  # It holds stdout open.


ATTACKS: dict[str, Callable[[], None]] = {
    name: value for name, value in globals().items() if name.islower() and callable(value)
}


def outcome_of(name: str) -> str:
    """Tries it: "reached", or "refused" with the reason."""
    try:
        ATTACKS[name]()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"refused: {error}"
    return "reached"


if __name__ == "__main__":
    print(outcome_of(sys.argv[1]), file=sys.stderr)
    sys.exit(3)
