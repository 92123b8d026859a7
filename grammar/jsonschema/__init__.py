"""JSON Schema, drafts 4 to 2020-12, as rules of the byte machine.

In reading order:

    read      the schema itself: values, dialects, references, options of writing
    logic     what it asserts, as Boolean formulas over atoms
    report    which keywords are enforced and which are not
    scalars   strings, numbers and finite sets of values as leaves
    objects   what may come next in an object
    arrays    what may come next in an array
    rules     JSON values as rules of the byte machine; `language` assembles a schema
"""
