"""Mixtures of experts: many small MLPs, of which every row uses a few."""
