"""JSON Schema, drafts 4 to 2020-12, as languages of JSON texts.

The way of a schema; `language` is the door.

Reading it
    values          JSON values that are equal exactly when JSON Schema says so
    dialects        the drafts, as data
    shapes          whether keywords have the values that they must have
    uri             references and JSON Pointers
    resolve         where schemas stand, what references mean
    places          a schema in its dynamic scope
    options         how the output may be written

What it asserts
    formula         Boolean formulas, equal ones the same object
    atoms           what can be asserted of one value
    normal          a schema to its formula
    covers          what `unevaluated*` leaves over
    survey          everything that is enforced, and how
    unread          everything that is not, and why
    covered         ... both in short
    evaluate        whether a value is valid
    opaque          what no automaton can tell

Scalars as leaves
    scalars         the scalars that fulfil a formula
    texts           formulas about strings as automata
    numeric         formulas about numbers as automata
    spelling        how strings are written
    shared          small automata that many schemas ask for
    wording         what is asked, in words that all schemas share
    finite          the values of a formula where there are few
    small           ... arrays and objects among them
    counted         long strings, read a window at a time
    windows         ... the windows

Containers, derived member by member and item by item
    residual        what is left of a formula: by kind, by atom, at an end
    plans           what is asked of one member or item, and where each answer leads
    objects         objects
    names           names of members, and places between members
    vocabulary      ... all that is known of the names before any is read
    keys            ... those that may come next
    leaves          ... as a leaf
    member_steps    how members change what is left to show
    plain           objects of which everything asked has to hold
    members         ... their members
    spent           alternatives that no member can break any more
    trails          ways to the end that searches have found
    arrays          arrays
    item_steps      how items change what is left to show
    equal           which values are equal, however they are written
    containers      objects and arrays of one rule
    costs           how many bytes are still to be written at least

As rules of the machine
    language        one schema: owns what its rules share
    rules           one value, as a rule
    spots           the places in it where something is decided
    spacing         white space
    sample          a usual document

Words. An *atom* is one assertion about one kind of value. A *fold* is what the rest of a container still has to show:
what must come true, and of what the truth is asked. A *plan* is what is asked of one value in it. A name's *label* is
its number. *Plain* objects are those whose formula is a conjunction.
"""
