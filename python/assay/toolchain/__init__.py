"""Ahead-of-time work: models, recipes, quantization, lowering and references.

The package imports without Assay's compiled extension, so it runs in any toolchain. Its contract
(requests, events, manifest) is docs/contracts/aot.md.
"""
