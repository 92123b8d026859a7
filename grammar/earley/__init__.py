"""Earley items on compiled tables: grammars in which one byte of look-ahead does not decide.

Does: follow outputs of any context-free grammar, with shared and memoised sets of items; find legal tokens, forced
texts and shortest ends. Does not: read grammars (`cfg`), spell tokens (`backends`).
"""
