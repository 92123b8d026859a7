"""Bulk jobs: files of many documents in, files of typed rows out, nothing lost and nothing twice.

`spec` and `readers` say what the rows are, `ledger` remembers each row's state, `runner` gets them done, `publish`
writes the outputs. Needs the extra `bulk`.
"""
