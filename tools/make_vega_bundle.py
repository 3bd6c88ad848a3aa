"""Writes vega.js, the one script that draws the charts of HTML reports.

    python tools/make_vega_bundle.py build/release/share/assay/vega.js

The script holds Vega, Vega-Lite and Vega-Embed as vl-convert-python bundles them, without npm and
without a network. A report carries it whole, so it is made safe to stand inside a script element,
and the notices of the licences stand at its head.
"""

import sys
from pathlib import Path

# https://github.com/vega/{vega,vega-lite,vega-embed,vega-tooltip,vega-themes}/blob/main/LICENSE
BSD_3_HOLDERS = (
    "Vega, Vega-Embed, Vega-Tooltip, Vega-Themes, Vega-Interpreter: "
    "Copyright (c) 2013-2025, University of Washington Interactive Data Lab and others.",
    "Vega-Lite: Copyright (c) 2015-2025, University of Washington Interactive Data Lab.",
    "d3-array, d3-scale and other parts of D3 derived from ColorBrewer and others: "
    "Copyright 2010-2023 Mike Bostock.",
)
BSD_3 = """\
Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:
1. Redistributions of source code must retain the above copyright notice, this list of
conditions and the following disclaimer.
2. Redistributions in binary form must reproduce the above copyright notice, this list of
conditions and the following disclaimer in the documentation and/or other materials provided
with the distribution.
3. Neither the name of the copyright holder nor the names of its contributors may be used to
endorse or promote products derived from this software without specific prior written
permission.
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR
CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR
OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE
POSSIBILITY OF SUCH DAMAGE."""

ISC_HOLDERS = (
    "d3-*: Copyright 2010-2023 Mike Bostock.",
    "internmap, delaunator: Copyright 2021 Mike Bostock; Copyright (c) 2017, Mapbox.",
    "topojson-client: Copyright 2012-2019 Michael Bostock.",
    "semver: Copyright (c) Isaac Z. Schlueter and Contributors.",
)
ISC = """\
Permission to use, copy, modify, and/or distribute this software for any purpose with or without
fee is hereby granted, provided that the above copyright notice and this permission notice
appear in all copies.
THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS
SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE
AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE
OF THIS SOFTWARE."""

MIT_HOLDERS = (
    "json-stringify-pretty-compact: Copyright (c) 2014, 2016, 2017, 2019, 2021, 2022 Simon Lydell.",
    "fast-json-patch: Copyright (c) 2013, 2014, 2020 Joachim Wester.",
)
MIT = """\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software
and associated documentation files (the "Software"), to deal in the Software without
restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions: The above copyright notice
and this permission notice shall be included in all copies or substantial portions of the
Software.
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def notices() -> str:
    """The licences' notices as one JavaScript comment that minifiers keep."""
    groups = ((BSD_3_HOLDERS, BSD_3), (ISC_HOLDERS, ISC), (MIT_HOLDERS, MIT))
    texts = ["\n".join(holders) + "\n\n" + licence for holders, licence in groups]
    return "/*!\n" + "\n\n".join(texts) + "\n*/\n"


def script_safe(script: str) -> str:
    """The same script with nothing in it that could end its script element.

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
