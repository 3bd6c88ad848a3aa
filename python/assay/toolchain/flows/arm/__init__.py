"""Lowering by ExecuTorch's Arm backends: TOSA, VGF, Ethos-U and Cortex-M."""
