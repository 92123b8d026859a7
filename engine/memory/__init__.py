"""Paged KV memory: blocks, block tables, prefix cache."""
