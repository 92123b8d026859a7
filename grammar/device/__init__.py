"""Closed grammars as flat integer tables, for masks on a GPU and for replay on the host."""
