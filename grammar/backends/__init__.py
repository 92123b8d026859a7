"""Matchers: over the byte machine, and over xgrammar for grammars that one byte of look-ahead does not decide."""
