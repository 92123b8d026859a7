"""Which keywords of a schema are enforced, and which are not and why."""
