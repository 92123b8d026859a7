"""Requests to engines: which engine computes a request, and what happens to it when that engine dies."""
