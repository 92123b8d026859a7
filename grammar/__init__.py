"""Languages over bytes and tokens: constraints, compiled grammars, matchers, token masks.

What others may use is in `api`. This is the map of the rest, in the order in which a constraint goes through it.

What is asked
    spec            a constraint, as a value
    ready           constraints that are ready to use: any JSON, tables, documents, queries
    vocabulary      a model's vocabulary as bytes
    masks           how a mask is packed
    matcher         the contract: what a compiled grammar and a matcher can do
    errors          everything that can be wrong with a constraint
    jsontext        JSON text to values, strictly

Whether it can be had
    screen          judge a constraint; turn it into rules and leaves
    verdict         the outcome of an examination, as plain data
    trial           ... outputs that are written for it, and what they take
    admission       one examination, however many ask
    isolation       examinations in processes that may be killed
    worker          ... those processes
    channel         ... what passes between them and us
    store           verdicts on disk
    explain         what becomes of each part of a constraint
    explained       ... as bytes
    coverage        how far a schema is enforced, in short

From its source to rules and leaves
    jsonschema      JSON Schema: formulas, and rules for values
    cfg             context-free grammars, tables, documents
    regex           patterns as automata over code points
    leaves          automata of JSON's strings, numbers and formats
    automata        deterministic automata as tables
    rule            what all of these hand to the machine: rules, leaves, calls, outcomes

The machine, byte by byte
    machine         make the states of rules when text reaches them
    tables          ... the tables that they are kept in
    embedded        a leaf as the machine holds it
    walk            the compiled loop: one byte, one text
    cursor          one output's place in the machine
    memories        texts said before in an object or array
    recall          ... those that a stack remembers
    tails           beginnings that only a text said before could complete
    endings         ... found in a leaf's table
    exhaustion      beginnings of items that only items said before could complete

Masks
    trie            the vocabulary as a trie
    masking         the mask of a place
    walk_rows       ... made by one compiled call
    walk_tokens     all tokens through the machine
    walk_leaf       all tokens inside one leaf
    leafrows        rows of leaves, shared by all grammars
    likeness        how far a leaf fares like another
    staying         parts of the trie that stay inside a leaf whatever comes
    forest          what follows a leaf, merged
    rows            rows that are kept
    doubts          tokens that hang on a text being new
    corrections     ... decided
    entering        tokens that begin a text that is remembered
    beginnings      tokens by how they begin
    rehearsal       masks made before text needs them

Ways to the end
    bounds          how many bytes suffice, by what rules promise
    ways            short ways, by search
    nearest         short texts of a leaf
    rope            texts that share pieces
    closing         a way that the machine itself has read
    mending         ... with other texts in the place of those that came before

Token by token
    native          matchers over the machine
    backends        spelling of forced text; matchers over another library
    compile         a constraint to a compiled grammar
    cache           compiled grammars, kept
    holdings        ... counted
    heap            free memory given back to the system

On a device
    device          a whole machine as flat tables
    export          ... made
    outlook         ... what can be told of them ahead
    table_walk      texts along them
    table_moves     many outputs along them, in one call
    followers       those outputs

Under all of it
    arrays          the types of arrays
    addresses       arrays handed to compiled code by where they lie
    mapped          arrays in pages of their own
    kept            answers within a bound of memory
    remembered      results of functions within a bound of memory
    commons         ... those that all grammars share

Words. A *leaf* is a flat automaton over bytes (a string, a number, a name). A *rule* reads one piece of text and
*calls* leaves and other rules at *sites*; it ends with an *outcome*, a small number that says what the text was. A
*frame* is an open call; state and stack of frames are a *configuration*. A *row* is a mask without end tokens. An
*exit* is a place in the trie where a leaf ends. A row *asks* at nodes of the trie where only the text can decide.
"""
