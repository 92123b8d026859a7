"""The prose of the report's page; the figures are put in by `sections` and `texts`."""

TEXTS = """\
Each instance as text with its members in any order, once compact and once on lines; both have to come out
right.
"""
EXCEPTIONS = (
    "\nNot right, by verdict and keyword (each case with its message is in `golden.json`):\n"
)
BESIDE = """
Side by side on {part} (measured). The other engines get each instance as it comes and with its members in the
order of the schema, white space free, and the better reading counts. `jsonschema` is a validator and sees
values:
"""
MASKS = """\
A vocabulary of {size:,} tokens; an oracle that follows the same rules byte by byte, without trie, tables or
rows; {walks} random outputs of up to {steps} tokens a grammar. At every place our mask has to equal the
oracle's in every bit; and from every place that a mask leads to, the shortest way to the end is followed to its
end, token by token.
"""
MASKS_NOTE = """
Wrong masks and dead ends: {faults}. Grammars without a deterministic form run on another back end and are not
part of this ({others}); the remaining ones were refused.
"""
WALKS = """\
{each} random legal outputs of {which} schema of the open part of JSONSchemaBench that compiles, drawn token by
token from the masks (one, where the least output has more than {long:,} tokens); each is judged by the
`jsonschema` package with formats, decimals kept exact and patterns read as ECMA-262.
"""
WALKS_NOTE = """
Refused schemas: {refused}. Outputs that the bound on a grammar's memory ended with an error, by schema: {stopped}.
Not judged: the package fails on its own account (references it cannot follow,
patterns its engine cannot read).
"""
BUDGETS = """\
Random schemas of the open part that compile, each with every budget from its least number of tokens to {more}
above; a model that picks any legal token; the engine's own rule (`engine/grammars/budgeted_matcher.py`) keeps the
budget. One token below the least, the scheduler refuses before anything is computed.
"""
DIFFERENCES = """\
{schemas:,} made-up schemas (all applicators, references, patterns, formats) with {values:,} made-up values,
{valid:,} of them valid. Our machine and the `jsonschema` package disagree on {faults}. All other differences,
by the rule that explains them (those of llguidance are measured):
"""
HOSTILE = """\
Each case in a child of its own with 2 s of processor time and 1 GiB above its start, for compiling, following
all outputs that it has to take and to refuse, and a random walk of 256 tokens; then once more in the killable
workers that the service examines constraints in (1.5 s of processor time, 1.8 s by the clock, 1 GiB).
"""
SPEED = """\
Measured on the machine that made this report: one thread, the shared tokenizer of 151,646 tokens, {schemas} random
schemas of the open part with a valid instance, masks along all valid instances in compact form; processor time.
"""
