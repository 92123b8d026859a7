"""Extraction in the caller's own process, without a server."""
