"""How JSON text is laid out: white space, and how many bytes punctuation takes."""
