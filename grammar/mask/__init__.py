"""Token masks: which tokens of a vocabulary are legal next in a configuration of the byte machine."""
