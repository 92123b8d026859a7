"""Where the values of an answer stand in the document."""
