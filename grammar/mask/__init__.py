"""Token masks: which tokens of a vocabulary are legal in a state of the byte machine."""
