"""Bulk jobs: files of many documents in, files of typed rows out, each row exactly once.

`readers` turn sources into rows, `ledger` stores the state of each row, `runner` gets rows extracted, `publish` writes
the outputs. Needs the extra `bulk`.
"""
