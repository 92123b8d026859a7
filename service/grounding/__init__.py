"""Grounding: the places in the document from which the values of an answer come, and their confidence."""
