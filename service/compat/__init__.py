"""Native interfaces of other servers, as translations to and from OpenAI's chat completions and completions.

A request becomes a `ChatRequest` or a `CompletionRequest`; the answer is translated chunk by chunk (`translated`).
`ollama_request` and `ollama_answer` speak Ollama's, `llama_cpp_completion` llama.cpp's, `sglang_generate` SGLang's.
"""
