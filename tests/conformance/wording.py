"""The prose of the report's page; the figures are put in by `sections` and `texts`."""

TEXTS = """\
Each instance is a text with its members in any order, once compact and once on several lines. Both forms must be
judged correctly.
"""
EXCEPTIONS = (
    "\nIncorrect verdicts, by verdict and keyword (`golden.json` has each case with its message):\n"
)
BESIDE = """
Comparison on {part} (measured). The other engines get each instance unchanged
and with its members in the order of the schema, with free white space, and the better result counts. `jsonschema` is a
validator and reads values:
"""
MASKS = """\
A vocabulary of {size:,} tokens; an oracle that follows the same rules byte by byte, without trie, tables or
rows; {walks} random outputs of up to {steps} tokens per grammar. At every position, our mask must equal the oracle's in
every bit. From every position that a mask allows, the shortest completion is followed to its end, token by token.
"""
MASKS_NOTE = """
Wrong masks and dead ends: {faults}. Grammars without a deterministic form run on another back end and are not
included ({others}); the remaining grammars were refused.
"""
WALKS = """\
{each} random legal outputs of {which} compilable schema of the open part of JSONSchemaBench, drawn token by token from
the masks (one, if the shortest output has more than {long:,} tokens). The `jsonschema` package judges each output, with
formats, with exact decimals, and with patterns read as ECMA-262.
"""
WALKS_NOTE = """
Refused schemas: {refused}. Outputs that the bound on a grammar's memory ended with an error, by schema: {stopped}.
Not judged: the package itself fails (references that it cannot follow, patterns that its engine cannot read).
"""
BUDGETS = """\
Random compilable schemas of the open part, each with every budget from its least number of tokens to {more}
above. A model picks any legal token, and the engine's own rule (`BudgetedMatcher`) enforces the budget. With one token
below the least, the scheduler refuses the request before any computation.
"""
DIFFERENCES = """\
{schemas:,} generated schemas (all applicators, references, patterns, formats) with {values:,} generated values,
{valid:,} of them valid. Our machine and the `jsonschema` package disagree on {faults}. All other differences, by
the rule that explains them (the differences of llguidance are measured):
"""
HOSTILE = """\
Each case runs in its own child process, with 2 s of processor time and 1 GiB above its initial memory, for compiling,
following all outputs that it must accept or refuse, and a random walk of 256 tokens. It runs again in the killable
workers that examine constraints for the service (1 GiB; 2 s of processor time).
"""
SPEED = """\
Measured on the machine that made this report: one thread, the shared tokenizer of 151,646 tokens, {schemas} random
schemas of the open part with a valid instance, masks along all valid instances in compact form; processor time.
"""
