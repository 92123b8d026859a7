"""Images of requests: from data URLs to the tokens and pixels of a prompt."""
