"""Weights of fewer bits than int8 has: faster where the instruction set multiplies such."""

import numpy as np
import pytest
import torch
from fixedpoint_nets import NETS, batches_like
from fixedpoint_running import check_every_tensor

pytest.importorskip("executorch")
pytestmark = pytest.mark.engine


def made_with(bits, name="mobile"):
    from fixedpoint.convert import convert, quantize

    torch.manual_seed(5)
    model, example = NETS[name]()
    batches = [example, *batches_like(example, 3)]
    made = convert(quantize(model, example, batches, weight_bits=bits), require_integer=True)
    ((program, blob),) = made.programs()
    return example, program, blob


def weights_of(program):
    from fixedpoint.program import Kind

    kinds = (Kind.CONV2D,)
    return [program.tensors[op.inputs[1]].data for op in program.operations if op.kind in kinds]


@pytest.mark.parametrize(("bits", "largest"), [(8, 127), (7, 63), (4, 7)])
def test_weights_fill_their_bits(bits, largest):
    _, program, _ = made_with(bits)
    weights = weights_of(program)
    assert len(weights) > 3
    assert [int(np.abs(w.astype(np.int64)).max()) for w in weights] == [largest] * len(weights)


@pytest.mark.parametrize("name", ["mobile", pytest.param("recurrent", marks=pytest.mark.long)])
def test_every_tensor_has_the_reference_s_bits_on_every_instruction_set(name, library):
    example, program, blob = made_with(7, name)
    check_every_tensor(library, program, blob, [x.numpy() for x in example])


@pytest.mark.parametrize("bits", [1, 9])
def test_bits_that_int8_does_not_hold_are_refused(bits):
    from fixedpoint.quantizer import FixedPointQuantizer

    with pytest.raises(ValueError, match=f"weight_bits is {bits}; there are 2 to 8"):
        FixedPointQuantizer(weight_bits=bits)
