"""Observability of a server: metrics, traces and the state of its engine."""
