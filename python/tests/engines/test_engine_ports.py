"""The map between a model's values and those of a program that knows integers and no scales."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from assay._errors import AssayError
from assay.engines.ports import map_ports
from assay.toolchain.file_formats.program_ports import (
    FILE,
    ProgramPort,
    ProgramPorts,
    write_ports,
)


@dataclass(frozen=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]


STEPS = {"scale": 0.5, "zero_point": 3, "quant_min": -127, "quant_max": 127, "dtype": "int8"}
INPUTS = (Tensor("a", "int8", (2, 2)), Tensor("b", "int32", (3,)))
OUTPUTS = (Tensor("c", "int8", (4,)),)
PORTS = ProgramPorts(
    (ProgramPort("ids", 1, "int64", (3,)), ProgramPort("x", 0, "int8", (2, 2), STEPS)),
    (ProgramPort("y", 0, "int8", (4,), STEPS), ProgramPort("again", 0, "int8", (4,), STEPS)),
)


def test_a_program_without_a_map_is_taken_as_it_is(tmp_path):
    ports = map_ports(tmp_path / "program.tosa", INPUTS, OUTPUTS)
    assert [spec.name for spec in ports.input_specs()] == ["a", "b"]
    assert [spec.quantization for spec in ports.output_specs()] == [None]


def test_values_change_their_order_and_types(tmp_path):
    write_ports(tmp_path, PORTS)
    ports = map_ports(tmp_path / "program.tosa", INPUTS, OUTPUTS)
    ids, x = np.array([1, 2, 3], np.int64), np.array([[-128, 5], [0, 127]], np.int8)
    first, second = ports.arrange([ids, x])
    assert [str(first.dtype), str(second.dtype)] == ["int8", "int32"]
    assert first.tolist() == [[-127, 5], [0, 127]]  # -128 is outside of what the graph quantizes to
    assert second.tolist() == [1, 2, 3]


def test_outputs_that_come_as_bytes_get_their_type_and_may_come_twice(tmp_path):
    write_ports(tmp_path, PORTS)
    ports = map_ports(tmp_path / "program.tosa", INPUTS, OUTPUTS)
    given = np.array([255, 1, 2, 3], np.uint8).reshape(2, 2)
    outputs = ports.collect([given])
    assert [output.tolist() for output in outputs] == [[-1, 1, 2, 3]] * 2
    (spec, _) = ports.output_specs()
    assert spec.quantization == {"scales": [0.5], "zero_points": [3], "axis": -1}


def test_a_map_of_another_program_is_refused(tmp_path):
    write_ports(tmp_path, PORTS)
    with pytest.raises(AssayError, match="do not belong together"):
        map_ports(tmp_path / "program.tosa", INPUTS[:1], OUTPUTS)


@pytest.mark.parametrize("text", ["{", json.dumps({"schema": "assay/other/1"}), "[]"])
def test_a_damaged_map_is_corrupt(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(AssayError) as raised:
        map_ports(tmp_path / "program.tosa", INPUTS, OUTPUTS)
    assert raised.value.code == "corrupt"


def test_scalars_of_the_model_may_be_vectors_of_the_program(tmp_path):
    one = (ProgramPort("x", 0, "float32", ()),)
    write_ports(tmp_path, ProgramPorts(one, one))
    tensors = (Tensor("x", "float32", (1,)),)
    ports = map_ports(tmp_path / "program.tosa", tensors, tensors)
    (given,) = ports.arrange([np.zeros((), np.float32)])
    (read,) = ports.collect([given])
    assert (given.shape, read.shape) == ((1,), ())
