"""Scheduling: admission, order of service, plans and commits."""
