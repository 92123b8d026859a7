"""Context-free grammars: read, trimmed, and turned into rules of the byte machine where a deterministic form exists.

Does: EBNF and Lark's syntax, ready grammars (CSV, XML, SQL). Does not: follow text (`machine`, `backends.earley`).
"""
