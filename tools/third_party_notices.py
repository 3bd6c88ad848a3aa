"""Writes THIRD_PARTY_NOTICES: what the programs and reports contain of others, and its licences.

    python tools/third_party_notices.py            writes the file
    python tools/third_party_notices.py --check    exits 1 if the file is not what would be written

tools/third_party/components.json lists the components; the notices at the head of vega.js
(make_vega_bundle.py) and the bill of materials (make_sbom.py) come from the same table.
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools" / "third_party" / "components.json"
LICENCES = TABLE.parent / "licences"
NOTICES = ROOT / "THIRD_PARTY_NOTICES"

PARTS = {
    "vega.js": "vega.js, the script that draws the charts of HTML reports, and each HTML report",
    "programs": "The programs and extension modules: header-only libraries, and archives that the "
    "wheel and assay-agent are linked with",
}
"""Names of the values of "part_of"."""

Component = dict[str, Any]


def read_components(part: str) -> list[Component]:
    """Reads the components of one part, in the order of the table."""
    document = json.loads(TABLE.read_text(encoding="utf-8"))
    return [one for one in document["components"] if one["part_of"] == part]


def _text_of_components(components: Iterable[Component]) -> str:
    """Names each component, and below those of one copyright its holders."""
    names: dict[tuple[str, ...], list[str]] = {}
    for one in components:
        holders = (*one["copyright"], *([f"({one['note']})"] if "note" in one else []))
        label = f"{one['name']} {one.get('version', '')}".rstrip()
        names.setdefault(holders, []).append(label)
    lines: list[str] = []
    for holders, listed in names.items():
        lines += textwrap.wrap(", ".join(listed), 98, break_on_hyphens=False)
        lines += [f"  {holder}" for holder in holders]
    return "\n".join(lines)


def _text_of_licence(licence: str) -> str:
    """The terms of a licence; where they have no file here, where they stand."""
    file = LICENCES / f"{licence}.txt"
    if file.exists():
        return file.read_text(encoding="utf-8").rstrip()
    return f"https://spdx.org/licenses/{licence.split(' ')[0]}.html"


def notices_of_part(part: str) -> str:
    """Formats the components of a part under their licences, each licence with its terms."""
    groups: dict[str, list[Component]] = {}
    for one in read_components(part):
        groups.setdefault(one["licence"], []).append(one)
    return "\n\n".join(
        "\n\n".join((licence, _text_of_components(components), _text_of_licence(licence)))
        for licence, components in groups.items()
    )


def notices() -> str:
    """Formats the whole file."""
    head = "Assay contains the following works of others. Assay itself: see LICENSE."
    rule = "=" * 80
    parts = [f"{rule}\n{title}\n{rule}\n\n{notices_of_part(part)}" for part, title in PARTS.items()]
    return "\n\n".join((head, *parts)) + "\n"


def main() -> int:
    """Writes the file, or compares it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    options = parser.parse_args()
    if not options.check:
        NOTICES.write_text(notices(), encoding="utf-8")
        return 0
    if NOTICES.exists() and NOTICES.read_text(encoding="utf-8") == notices():
        return 0
    sys.stderr.write(f"{NOTICES.name} is out of date: python tools/third_party_notices.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
