"""Compilers behind the matcher interface: xgrammar for what has a stack, outlines-core for patterns."""
