"""The small extraction model that ships in the package: weights, tokenizer, chat template, card."""
