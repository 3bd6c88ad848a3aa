"""Quantization flows, one module each."""
