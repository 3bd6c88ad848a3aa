"""Endings of file names, which identify program formats."""

TORCH_EXPORT_ENDING = ".torch.pt2"
"""An exported program that is executed as it is; a bare .pt2 is a model."""

AOTI_ENDING = ".aoti.pt2"
"""A package of AOTInductor."""
