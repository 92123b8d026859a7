"""The wire types of OpenAI's interface, one file for each kind of call."""
