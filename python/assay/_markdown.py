"""The Markdown that `assay` writes, as HTML for notebooks: headings, tables, lists, blocks.

Only what the program writes is read. Names and messages of a report stay text: all is escaped.
"""

import html
import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\\(?P<plain>.)|(?P<bold>\*\*)|</?sub>")
_CELLS = re.compile(r"(?<!\\)\|")
_LEFT, _RIGHT = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"


def html_from_markdown(markdown: str) -> str:
    """The heading, what stands over the table and the first table; all else can be unfolded."""
    blocks = list(_blocks(markdown))
    tables = [place for place, block in enumerate(blocks) if block.startswith("<table")]
    shown = tables[0] + 1 if tables else len(blocks)
    head, rest = "".join(blocks[:shown]), "".join(blocks[shown:])
    more = f"<details><summary>more</summary>{rest}</details>" if rest else ""
    return f'<div class="assay">{head}{more}</div>'


def _blocks(markdown: str) -> Iterator[str]:
    lines = markdown.splitlines()
    place = 0
    while place < len(lines):
        begin, line = place, lines[place]
        kind = _kind_of_line(line)
        place += 1
        if kind == "fence":
            while place < len(lines) and not lines[place].startswith("```"):
                place += 1
            block = lines[begin + 1 : place]
            place += 1
            yield f'<pre style="line-height:1.25">{html.escape(chr(10).join(block))}</pre>'
            continue
        while (
            kind in ("table", "list") and place < len(lines) and _kind_of_line(lines[place]) == kind
        ):
            place += 1
        yield from _block(kind, lines[begin:place])


def _kind_of_line(line: str) -> str:
    for mark, kind in (("```", "fence"), ("#", "heading"), ("|", "table"), ("- ", "list")):
        if line.startswith(mark):
            return kind
    return "paragraph" if line.strip() else "empty"


def _block(kind: str, lines: list[str]) -> Iterator[str]:
    if kind == "heading":
        title = lines[0].lstrip("#")
        level = min(6, len(lines[0]) - len(title))
        yield f"<h{level}>{_inline(title.strip())}</h{level}>"
    elif kind == "table":
        yield _table(lines)
    elif kind == "list":
        items = "".join(f"<li>{_inline(line[2:])}</li>" for line in lines)
        yield f"<ul>{items}</ul>"
    elif kind == "paragraph":
        yield f"<p>{_inline(lines[0])}</p>"


def _table(lines: list[str]) -> str:
    rows = [_cells(line) for line in lines]
    head, marks, body = rows[0], rows[1] if len(rows) > 1 else [], rows[2:]
    styles = [_RIGHT if mark.strip().endswith(":") else _LEFT for mark in marks]
    text = _row(head, "th", styles)
    text += "".join(_row(row, "td", styles) for row in body)
    return f"<table>{text}</table>"


def _row(cells: list[str], tag: str, styles: list[str]) -> str:
    if tag == "td" and not any(cell.strip() for cell in cells[1:]):
        return (
            f'<tr><th colspan="{len(cells)}" style="{_LEFT}">{_inline(cells[0].strip())}</th></tr>'
        )
    padded = [*styles, *[_LEFT] * (len(cells) - len(styles))]
    return (
        "<tr>"
        + "".join(
            f'<{tag} style="{style}">{_inline(cell.strip())}</{tag}>'
            for cell, style in zip(cells, padded, strict=False)
        )
        + "</tr>"
    )


def _cells(line: str) -> list[str]:
    return _CELLS.split(line.strip())[1:-1]


def _inline(text: str) -> str:
    """A line's text as HTML: what a backslash or an entity escapes is plain, ** is bold."""
    out: list[str] = []
    place = 0
    is_bold = False
    for token in _TOKEN.finditer(text):
        out.append(_plain(text[place : token.start()]))
        place = token.end()
        if token["plain"] is not None:
            out.append(html.escape(token["plain"]))
        elif token["bold"] is not None:
            is_bold = not is_bold
            out.append("<b>" if is_bold else "</b>")
    out.append(_plain(text[place:]))
    return "".join(out) + ("</b>" if is_bold else "")


def _plain(text: str) -> str:
    return html.escape(html.unescape(text))
