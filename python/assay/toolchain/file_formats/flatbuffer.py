"""Reads tables of a flatbuffer by the numbers of their fields, without generated code.

Source: the format's description, https://flatbuffers.dev/internals: a table begins with the offset
of its vtable, which has the offset of each field, 0 for an absent one.
"""

import struct
from dataclasses import dataclass

_OFFSET = struct.calcsize("<I")
_FIRST_FIELD = 4
"""A vtable begins with its own size and the table's."""

_FIELD = 2


@dataclass(frozen=True)
class Table:
    """A table at a position; a field that is absent has its default.

    Raises:
        struct.error: any of its methods, where the file ends before what is read.
    """

    content: bytes
    position: int

    def number(self, field: int, kind: str = "i", default: int = 0) -> int:
        """A number, `kind` as struct names it."""
        place = self._find(field)
        return default if place == 0 else self._read(kind, place)

    def table(self, field: int) -> "Table | None":
        """A table; None if it is absent."""
        place = self._find(field)
        return None if place == 0 else Table(self.content, self._follow(place))

    def text(self, field: int) -> str:
        """A text; "" where it is absent."""
        place = self._find(field)
        return "" if place == 0 else self._text_at(self._follow(place))

    def numbers(self, field: int, kind: str = "i") -> list[int]:
        """A vector of numbers."""
        start, count = self.vector(field)
        return list(struct.unpack_from(f"<{count}{kind}", self.content, start))

    def tables(self, field: int) -> list["Table"]:
        """A vector of tables."""
        return [Table(self.content, self._follow(place)) for place in self._places(field)]

    def texts(self, field: int) -> list[str]:
        """A vector of texts."""
        return [self._text_at(self._follow(place)) for place in self._places(field)]

    def vector(self, field: int) -> tuple[int, int]:
        """Returns the start of a vector's elements, and their number."""
        place = self._find(field)
        if place == 0:
            return 0, 0
        start = self._follow(place)
        return start + _OFFSET, self._read("I", start)

    def _places(self, field: int) -> list[int]:
        start, count = self.vector(field)
        if count * _OFFSET > len(self.content):
            raise struct.error("a vector is longer than the file")
        return [start + number * _OFFSET for number in range(count)]

    def _find(self, field: int) -> int:
        vtable = self.position - self._read("i", self.position)
        slot = _FIRST_FIELD + _FIELD * field
        if slot >= self._read("H", vtable):
            return 0
        offset = self._read("H", vtable + slot)
        return 0 if offset == 0 else self.position + offset

    def _follow(self, place: int) -> int:
        return place + self._read("I", place)

    def _text_at(self, start: int) -> str:
        size = self._read("I", start)
        begin = start + _OFFSET
        if begin + size > len(self.content):
            raise struct.error("a text is longer than the file")
        return self.content[begin : begin + size].decode()

    def _read(self, kind: str, place: int) -> int:
        if place < 0:
            raise struct.error("an offset leads out of the file")
        (value,) = struct.unpack_from(f"<{kind}", self.content, place)
        return int(value)


def read_root(content: bytes) -> Table:
    """The table that the file begins with."""
    (position,) = struct.unpack_from("<I", content, 0)
    return Table(content, position)
