"""Paged attention in Triton, and its definition in torch."""
