"""Tokens in, tokens out: scheduling, paged KV memory, the model, sampling under constraints."""
