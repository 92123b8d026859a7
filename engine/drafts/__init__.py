"""Drafts: tokens that a step computes before they are sampled, and that stand if the draws equal them."""
