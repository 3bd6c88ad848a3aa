"""Execution plans as text: one line an instruction."""

from typing import Any

from assay.toolchain.file_formats.pte import ProgramFile, dtype_name

MAX_LIST_ITEMS = 8
_KINDS = {
    "KernelCall": "kernel_calls",
    "DelegateCall": "delegate_calls",
    "MoveCall": "moves",
    "JumpFalseCall": "jumps",
    "FreeCall": "frees",
}


def instruction_kind(arguments: Any) -> str:
    """The plural by which instructions of this type are counted."""
    return _KINDS[type(arguments).__name__]


def render_program(file: ProgramFile) -> str:
    """All methods with their values and instructions."""
    return "\n\n".join(render_method(plan) for plan in file.program.execution_plan) + "\n"


def render_method(plan: Any) -> str:
    """One method: its signature, its arenas, then what it executes in order."""
    arenas = ", ".join(str(size) for size in plan.non_const_buffer_sizes[1:]) or "none"
    lines = [
        f"method {plan.name}({_values(plan, plan.inputs)}) -> ({_values(plan, plan.outputs)})",
        f"  planned arenas (bytes): {arenas}",
    ]
    for chain in plan.chains:
        for number, instruction in enumerate(chain.instructions):
            lines.append(f"  {number:4d}  {_instruction(plan, instruction.instr_args)}")
    return "\n".join(lines)


def _instruction(plan: Any, call: Any) -> str:
    kind = type(call).__name__
    if kind == "KernelCall":
        operator = plan.operators[call.op_index]
        name = ".".join(filter(None, (operator.name, operator.overload)))
        return f"{name}({_values(plan, call.args)})"
    if kind == "DelegateCall":
        backend = plan.delegates[call.delegate_index].id
        return f"delegate {call.delegate_index} {backend}({_values(plan, call.args)})"
    if kind == "MoveCall":
        return f"move {_value(plan, call.move_from)} to {_value(plan, call.move_to)}"
    if kind == "JumpFalseCall":
        condition = _value(plan, call.cond_value_index)
        return f"if not {condition} jump to {call.destination_instruction}"
    return f"free {_value(plan, call.value_index)}"


def _values(plan: Any, indices: list[int]) -> str:
    return ", ".join(_value(plan, index) for index in indices)


def _value(plan: Any, index: int) -> str:
    """%index with type and shape for tensors, the literal for everything else."""
    value = plan.values[index].val
    kind = type(value).__name__
    if kind == "Tensor":
        return f"%{index}:{dtype_name(value.scalar_type)}{list(value.sizes)}"
    if kind in ("TensorList", "OptionalTensorList"):
        return f"[{_items([f'%{item}' for item in value.items])}]"
    if kind == "IntList":
        return f"[{_items([_value(plan, item) for item in value.items])}]"
    if kind in ("BoolList", "DoubleList"):
        return f"[{_items([str(item) for item in value.items])}]"
    if kind == "Null":
        return "null"
    return str(next(iter(vars(value).values())))


def _items(texts: list[str]) -> str:
    more = ["…"] if len(texts) > MAX_LIST_ITEMS else []
    return ", ".join(texts[:MAX_LIST_ITEMS] + more)
