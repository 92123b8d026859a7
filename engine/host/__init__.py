"""The engine in a process of its own: process, supervisor, client, messages."""
