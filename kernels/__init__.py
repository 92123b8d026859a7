"""Device arithmetic in torch and Triton. This file imports nothing, on purpose (docs/architecture.md)."""
