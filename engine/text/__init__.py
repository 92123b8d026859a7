"""Text: tokenizers, chat templates, incremental detokenisation."""
