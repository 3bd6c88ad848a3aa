"""The lowering flows of ExecuTorch."""
