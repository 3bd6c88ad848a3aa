"""Writes blobs of small networks into a folder: where the fuzzer of the runtime's loader begins.

Usage: python delegates/fixedpoint/tools/make_corpus.py FOLDER

The networks are those of the tests; together they use every primitive. Each is written with
activations of int8 and of int16.
"""

import itertools
import sys
from pathlib import Path

import torch

PACKAGE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PACKAGE / "python"), str(PACKAGE / "tests")]

from fixedpoint_nets import NETS  # noqa: E402

from fixedpoint.convert import convert, quantize  # noqa: E402
from fixedpoint.integer_types import TYPES  # noqa: E402


def main() -> int:
    """Prints the name and size of each blob."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, activations in itertools.product(NETS, TYPES):
        torch.manual_seed(1)
        model, example = NETS[name]()
        quantized = quantize(model.eval(), example, [example], activations=activations)
        for number, (_, blob) in enumerate(convert(quantized).programs()):
            path = folder / f"{name}-{activations}-{number}.blob"
            path.write_bytes(blob)
            print(path, len(blob))
    return 0


if __name__ == "__main__":
    sys.exit(main())
