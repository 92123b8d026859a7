"""The adapters that requests may name, and their files."""
