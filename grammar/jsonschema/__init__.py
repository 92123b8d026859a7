"""JSON Schema, drafts 4 to 2020-12, as languages of JSON texts."""
