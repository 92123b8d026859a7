"""Fields in which clients of other servers state constraints, one file for each server."""
