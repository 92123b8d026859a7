"""The compiler: checks a constraint and compiles it to a grammar for one vocabulary."""
