"""API keys: what they permit, how much they may use, where they are kept."""

DEFAULT_TENANT = "default"
"""The tenant of keys in the configuration, and of all requests to a server without keys."""
