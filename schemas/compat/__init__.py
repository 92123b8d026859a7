"""The wire types of other servers' own interfaces: llama.cpp, SGLang and Ollama."""
