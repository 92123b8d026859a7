"""The model: specification, weights, decoder, quantisation schemes."""
