"""Drafts (speculative tokens): computed before they are sampled, and accepted if they equal the sampled tokens."""
