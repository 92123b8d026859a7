"""Compilers of others behind the matcher interface: xgrammar, for context-free grammars."""
