"""The data that the parts of a bulk job exchange: records, rows, result columns, kept values, files and errors.

Does: define and convert values; choose file formats; open untrusted files. Does not: parse formats (`jobs.readers`,
`jobs.writers`), store rows (`jobs.ledger`). Imports nothing else of `jobs`.
"""
