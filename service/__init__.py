"""People and programs: HTTP, command line, SDK, offline use."""
