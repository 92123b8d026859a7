"""The byte machine: a lazy, deterministic push-down automaton that is built from rules while text is read."""
