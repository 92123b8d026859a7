"""API keys: scopes, limits, use, audit and storage."""

DEFAULT_TENANT = "default"
"""The tenant of keys in the configuration, and of all requests to a server without keys."""
