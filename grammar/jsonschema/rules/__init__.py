"""JSON values as rules of the byte machine."""
