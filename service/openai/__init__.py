"""OpenAI's chat completions and completions over `service/generation`: prompts, options and answers."""
