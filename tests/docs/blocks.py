"""Finds what README and docs show: blocks of code, the commands in them, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

PROGRAMS = (
    "assay",
    "python",
    "jq",
    "build/release/bin/",
    "make",
    "cmake",
    "source",
    "export",
    "pip",
)
"""Prefix of a line that is a command for a shell."""


@dataclass(frozen=True)
class Block:
    """A block of code; `language` is empty if a page indents it instead of fencing it."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> list[str]:
        """The lines that a reader would type, without their comments."""
        lines = [line.removeprefix("$ ") for line in self.text.splitlines()]
        typed = [re.sub(r"\s{2,}# .*", "", line).strip() for line in lines]
        return [line for line in typed if re.match(rf"({'|'.join(PROGRAMS)})\b(?!\.\w+\()", line)]


def blocks_of(page: Path) -> Iterator[Block]:
    """Fenced blocks, and blocks indented by four that stand alone."""
    name = str(page.relative_to(ROOT))
    language: str | None = None
    held: list[str] = []
    start = 0
    for number, line in enumerate([*page.read_text(encoding="utf-8").splitlines(), ""], 1):
        fence = re.match(r"```(\w*)", line)
        if language is not None and not fence:
            held.append(line)
        elif fence and language is None:
            language, start = fence[1] or "text", number + 1
        elif fence:
            yield Block(name, start, str(language), "\n".join(held))
            language, held = None, []
        elif line.startswith("    ") or (held and not line):
            start = start if held else number
            held.append(line[4:])
        elif held:
            yield Block(name, start, "", "\n".join(held).rstrip())
            held = []
    if held:
        yield Block(name, start, "", "\n".join(held).rstrip())


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def page_name(page: Path) -> str:
    """The page's path within this project, for the name of a test."""
    return str(page.relative_to(ROOT))


def targets_of(page: Path) -> list[tuple[Path, str]]:
    """File and anchor of each link between files; the anchor is empty if there is none."""
    text = page.read_text(encoding="utf-8")
    return [
        ((page.parent / target).resolve() if target else page, anchor)
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text)
    ]


def anchors_of(page: Path) -> set[str]:
    """Anchors of the page's headings, as forges derive them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_of(page: Path) -> set[str]:
    """Files of this project that a page names: links, and paths in backticks."""
    links = {str(target.relative_to(ROOT)) for target, _ in targets_of(page)}
    named = re.findall(
        r"`((?:docs|src|tests|tools|specs|python|bench|studies|cmake|examples|requirements)/[\w./-]+)`",
        page.read_text(encoding="utf-8"),
    )
    return links | set(named)
