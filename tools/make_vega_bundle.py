"""Writes vega.js, the one script that draws the charts of HTML reports.

    python tools/make_vega_bundle.py build/release/share/assay/vega.js

The script holds Vega, Vega-Lite and Vega-Embed as vl-convert-python bundles them, without npm and
without a network. A report carries it whole, so it is made safe to stand inside a script element,
and the notices of the licences stand at its head.
"""

import sys
from pathlib import Path

from third_party_notices import notices_of_part


def notices() -> str:
    """The licences' notices as one JavaScript comment that minifiers keep."""
    return f"/*!\n{notices_of_part('vega.js')}\n*/\n"


def script_safe(script: str) -> str:
    """Returns the script with nothing in it that could end its script element.

    Raises:
        ValueError: it opens an HTML comment, which no escape can hide everywhere.
    """
    if "<!--" in script:
        raise ValueError("the bundle holds '<!--' and cannot stand inside a page")
    return script.replace("</script", "<\\/script")


def make_bundle() -> str:
    """Asks vl-convert for the bundle; it sets window.vegaEmbed, vega and vegaLite only."""
    import vl_convert

    # Without a snippet it is the whole bundle; the type stub does not know that.
    script = script_safe(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    return f"{notices()}(() => {{\n{script}\n}})();\n"


def main() -> int:
    """Writes the bundle to the path given."""
    if len(sys.argv) != 2:
        sys.stderr.write(__doc__ or "")
        return 2
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(make_bundle(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
