"""Grammar tables on the device: masks before a token is sampled, moves after it."""
