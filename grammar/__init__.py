"""Languages over bytes and tokens: constraints, compiled grammars, matchers, token masks."""
