"""The load generator of `intaglio bench`: requests of any of our protocols against a server, timed."""
