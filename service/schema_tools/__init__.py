"""Tools around JSON Schemas: inferred from examples, compared, tested, translated from other languages.

Does: what `intaglio schema infer`, `diff`, `test` and `from` print. Does not: read files or print (`cli`), enforce
schemas (`grammar`).
"""
