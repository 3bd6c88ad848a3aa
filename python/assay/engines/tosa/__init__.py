"""TOSA programs on Arm's reference model."""
