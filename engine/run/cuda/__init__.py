"""The GPU half of a step: input buffers, CUDA graphs, streams, grammar masks."""
