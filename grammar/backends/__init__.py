"""Matchers: over the byte machine, and over Earley items for grammars that one byte of look-ahead does not decide."""
