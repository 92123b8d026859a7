"""The GPU implementation of `Compute`: input buffers, CUDA graphs, streams, grammar masks."""
