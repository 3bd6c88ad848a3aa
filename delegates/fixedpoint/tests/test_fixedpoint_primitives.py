"""Generated cases of each primitive: the runtime beside the definitions.

FIXEDPOINT_CASES says how many of each, 300 unless it is given.
"""

import os

import numpy as np
import pytest
from fixedpoint_cases import DRAWN, cases

COUNT = int(os.environ.get("FIXEDPOINT_CASES", "300"))


@pytest.mark.parametrize("name", DRAWN)
def test_the_runtime_gives_the_bits_of_the_definition(name, library):
    from fixedpoint import blob, evaluate, planner

    seen = set()
    for number, (program, inputs) in enumerate(cases(name, COUNT)):
        (expected,) = evaluate.evaluate(program, inputs)
        written = blob.write(program, planner.plan(program))
        for isa in library.isa_names():
            (found,) = library.run(program, written, inputs, isa)
            np.testing.assert_array_equal(found, expected, err_msg=f"{name} {number} {isa}")
        seen.update(expected.reshape(-1).tolist())
    assert len(seen) > 100
