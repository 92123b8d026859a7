"""The logits pipeline in Triton: mask, penalties, truncation, draw. Its definition in torch."""
