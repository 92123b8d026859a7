"""Constraint compiler: JSON Schema, regular expressions and context-free grammars to token masks.

The public names are in `api`. A constraint passes through the packages in this order:

    contract     constraints, vocabularies, masks and matchers as values and protocols; errors
    intake       examination of untrusted constraints: in worker processes, with verdicts kept on disk
    compiler     source to rules (`frontend`), rules to a compiled grammar (`compile`)
    jsonschema   JSON Schema as formulas, then as rules and leaves
    cfg          EBNF, Lark, CSV and XML as rules
    tags         structural tags: free text with constrained segments, as rules
    regex        patterns as automata over code points
    leaves       automata of JSON strings, numbers and formats
    automata     deterministic automata as integer tables
    machine      the byte machine: a lazy, deterministic push-down automaton built from rules
    mask         which tokens are legal in a state of the machine
    completion   the shortest valid end of an output, which keeps budgets
    earley       sets of Earley items, for grammars in which one byte of look-ahead does not decide
    backends     matchers over the machine, and over Earley items
    device       closed grammars as flat tables, for the GPU and for replay on the host
    cache        compiled grammars, kept within a bound of memory
    jit          compilation of the inner loops with numba, ahead of time or at the first call
    base         typed arrays, strict JSON, bounded caches, work in parts

Terms: `docs/glossary.md`.
"""
