"""The hosts of an engine: a separate process with supervisor, client and messages, or the caller's process."""
