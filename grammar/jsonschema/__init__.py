"""JSON Schema, drafts 4 to 2020-12, compiled to rules of the byte machine.

In reading order:

    read      the schema document: values, dialects, references; the options of the output
    logic     schemas as Boolean formulas over atoms
    writing   white space, and the length of punctuation
    report    which keywords are enforced and which are not
    scalars   strings, numbers and finite sets of values as leaves
    objects   the members that may follow in an object
    arrays    the items that may follow in an array
    rules     JSON values as rules of the byte machine; `language` assembles a schema
"""
