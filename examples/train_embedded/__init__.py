"""How the embedded model is made: synthetic documents, tokenizer, training, evaluation."""
