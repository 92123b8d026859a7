"""The executor of one device: batches, the KV cache, sampling."""
