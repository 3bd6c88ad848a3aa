import json

import pytest
import torch
from fixedpoint_nets import NETS, NETS_TO_TEST

from fixedpoint import planner
from fixedpoint.arena_chart import chart, fullest, spans
from fixedpoint.convert import convert, quantize


@pytest.fixture(scope="module", params=NETS_TO_TEST)
def program_and_blob(request):
    torch.manual_seed(1)
    model, example = NETS[request.param]()
    converted = convert(quantize(model.eval(), example, [example]))
    ((program, blob),) = converted.programs()
    return program, blob


@pytest.mark.slow
def test_the_picture_shows_the_planner_s_places(program_and_blob):
    program, blob = program_and_blob
    plan = planner.plan(program)
    placed = spans(blob)
    assert {span.tensor: span.offset for span in placed} == plan.offsets
    assert fullest(placed) == plan.lower_bound_bytes
    for span in placed:
        made = program.operations[span.first]
        assert (made.output, made.kind.name.lower()) == (span.tensor, span.made_by)


@pytest.mark.slow
def test_boxes_of_one_time_are_apart_or_the_same_storage(program_and_blob):
    placed = spans(program_and_blob[1])
    for i, a in enumerate(placed):
        for b in placed[:i]:
            lives = a.first < b.last and b.first < a.last
            apart = a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
            assert not lives or apart or a.offset == b.offset


@pytest.mark.slow
def test_the_chart_has_a_box_for_each_tensor(program_and_blob):
    placed = spans(program_and_blob[1])
    made = json.loads(json.dumps(chart(placed, "net")))
    boxes, bound = made["layer"]
    assert len(boxes["data"]["values"]) == len(placed)
    assert bound["data"]["values"] == [{"bound": fullest(placed) / 1024}]
