"""The processes of the ranks of one engine, and the executor that drives them."""
