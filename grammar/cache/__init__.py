"""Compiled grammars, kept within a bound of memory."""
