"""Draws the arena of a program over time.

Usage: python delegates/fixedpoint/tools/arena_picture.py PROGRAM.blob PICTURE.json

The picture is Vega-Lite, for its editor or any page that embeds it. check_models.py --save writes
blobs.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from fixedpoint.arena_chart import chart, fullest, spans


def main() -> int:
    """Writes the picture; prints the arena beside its lower bound."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    placed = spans(source.read_bytes())
    target.write_text(json.dumps(chart(placed, source.stem), indent=1))
    end = max((span.offset + span.bytes for span in placed), default=0)
    print(f"{len(placed)} tensors, arena {end} bytes, lower bound {fullest(placed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
