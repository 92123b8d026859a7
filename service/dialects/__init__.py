"""Constraints as clients of other servers state them, one file for each server; `every` reads them all."""
