"""Archives that Linux unpacks into its first root: cpio in the format `newc`, uncompressed."""

import stat
from pathlib import Path
from typing import IO


class Initramfs:
    """Writes entries to a file; folders before what is in them. close() ends the archive."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._last_inode = 0

    def add_folder(self, path: str, mode: int = 0o755) -> None:
        """An empty folder."""
        self._add(path, stat.S_IFDIR | mode, b"")

    def add_link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def add_file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """A file."""
        self._add(path, stat.S_IFREG | mode, content)

    def add_tree(self, path: str, source: Path) -> None:
        """A folder with all that is in it."""
        self.add_folder(path)
        for entry in sorted(source.iterdir()):
            name = f"{path}/{entry.name}"
            if entry.is_symlink():
                self.add_link(name, str(entry.readlink()))
            elif entry.is_dir():
                self.add_tree(name, entry)
            else:
                self.add_file(name, entry.read_bytes(), stat.S_IMODE(entry.stat().st_mode))

    def close(self) -> None:
        """Writes the end of the archive."""
        self._add("TRAILER!!!", 0, b"")

    def _add(self, path: str, mode: int, content: bytes) -> None:
        self._last_inode += 1
        name = path.encode() + b"\0"
        # inode, mode, uid, gid, links, time, size, two devices of two numbers each, name, checksum
        fields = [self._last_inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        for part in (head, content):
            self._file.write(part + bytes(-len(part) % 4))
