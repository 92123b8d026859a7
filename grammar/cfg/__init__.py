"""Context-free grammars: parsed, trimmed, and compiled to rules of the byte machine if a deterministic form exists.

Does: EBNF, Lark's syntax, and ready grammars (CSV, XML, SQL). Does not: follow text (`machine`, `backends`).
"""
