#!/usr/bin/env python3
"""Draws comments and sentences for a reader who judges whether each is clear at one reading.

    python tools/sample_prose.py --seed 42

The same seed draws the same sample from the same tree. Comments are those of C++, Python and
JavaScript; a comment is all of its lines. Sentences are those of the pages without the changelog,
outside of tables and code.
"""

import argparse
import ast
import io
import random
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FEWEST_WORDS = 4
"""Fragments such as the end of a namespace have fewer."""

NOT_PROSE = re.compile(r"^(namespace\b|NOLINT|clang-format|noqa|type: |mypy: |ruff: |=+|-+ )")


class Passage(NamedTuple):
    """A comment or a sentence with its place."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def tracked_files() -> list[Path]:
    """The files that git knows, relative to the root, in the order of their names."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in sorted(listed.split("\0")) if name and (ROOT / name).is_file()]


def joined(lines: list[str]) -> str:
    """One line of text."""
    return " ".join(" ".join(lines).split())


def comments_with_slashes(text: str) -> Iterator[tuple[int, str]]:
    """Comments of C++ and JavaScript: neighboring lines of their own, or the end of one line."""
    held: list[str] = []
    start = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        alone = re.match(r"\s*///?(?!/)(?:< | ?(?!<))(.*)", line)
        if alone:
            start = start if held else number
            held.append(alone[1])
            continue
        if held:
            yield start, joined(held)
            held = []
        behind = re.search(r"[;,{})]\s*//(?:/<)?\s+(.*)$", line)
        if behind:
            start, held = number, [behind[1]]
    blocks = re.finditer(r"/\*\*?(.*?)\*/", text, re.DOTALL)
    for block in blocks:
        body = re.sub(r"^\s*\*", "", block[1], flags=re.MULTILINE)
        yield text.count("\n", 0, block.start()) + 1, joined(body.splitlines())


def comments_of_python(text: str) -> Iterator[tuple[int, str]]:
    """Comments with a number sign, and the strings that document something."""
    held: list[str] = []
    start, end = 0, (-1, -1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        number, column = token.start
        if held and (number, column) != end:
            yield start, joined(held)
            held = []
        start = start if held else number
        held.append(token.string.lstrip("#! "))
        end = (number + 1, column)
    if held:
        yield start, joined(held)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            continue
        if isinstance(node.value.value, str):
            yield node.lineno, joined(node.value.value.splitlines())


def comments() -> list[Passage]:
    """The comments of all sources."""
    passages = []
    for path in tracked_files():
        readers = {".h": comments_with_slashes, ".cpp": comments_with_slashes}
        readers |= {".js": comments_with_slashes, ".py": comments_of_python}
        if path.suffix not in readers:
            continue
        found = readers[path.suffix]((ROOT / path).read_text(encoding="utf-8"))
        passages += [Passage(path, line, text) for line, text in found if is_prose(text)]
    return passages


def is_prose(text: str) -> bool:
    """True if a comment is more than a mark for a tool or for the end of something."""
    return len(text.split()) >= FEWEST_WORDS and not NOT_PROSE.match(text)


def paragraphs_of(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs and items of lists of a page, with the line where each begins."""
    held: list[str] = []
    start, is_fenced = 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        is_fence = line.startswith("```")
        is_fenced ^= is_fence
        is_text = not (is_fence or is_fenced or re.match(r"\s*$|#|\||    \S", line))
        begins = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if held and (not is_text or begins):
            yield start, joined(held)
            held = []
        if is_text:
            start = start if held else number
            held.append(line[begins.end() :] if begins else line)


def sentences() -> list[Passage]:
    """The sentences of the pages."""
    passages = []
    for path in tracked_files():
        is_page = path.suffix == ".md" and (path.parts[0] == "docs" or len(path.parts) == 1)
        if not is_page or path.name == "CHANGELOG.md":
            continue
        for line, paragraph in paragraphs_of((ROOT / path).read_text(encoding="utf-8")):
            parts = re.split(r"(?<=[.?!])\s+(?=[A-Z`\[*])", paragraph)
            passages += [Passage(path, line, part) for part in parts if is_prose(part)]
    return passages


def draw(passages: list[Passage], count: int, generator: random.Random) -> list[Passage]:
    """Some of them in the order of their places, each at most once."""
    return sorted(generator.sample(passages, min(count, len(passages))))


def main() -> int:
    """Prints the sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="one that nobody has read yet")
    parser.add_argument("--comments", type=int, default=60, metavar="N", help="default: 60")
    parser.add_argument("--sentences", type=int, default=40, metavar="N", help="default: 40")
    given = parser.parse_args()
    generator = random.Random(given.seed)
    for title, passages, count in (
        ("comments", comments(), given.comments),
        ("sentences", sentences(), given.sentences),
    ):
        print(f"{count} of {len(passages)} {title}, seed {given.seed}\n")
        for number, passage in enumerate(draw(passages, count, generator), 1):
            print(f"{number}. {passage}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
