"""Structural tags as rules: free text in which fixed beginnings start constrained segments (`tag_rules`)."""
