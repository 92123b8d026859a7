"""Training data from real text: prose to learn language from, and documents with answers that their source states.

`manifest` lists the repositories, `clones` reads them, `plain` strips markup, the readers (`pages`, `papers`, `recipes`,
`people`, `events`, `mentions`) turn labelled or structured files into records, `build` writes both data files, `tasks`
turns a record into a training sample with a new schema each time.
"""
