"""Generation without a protocol: prompts as tokens in, events of text out.

    spec = GenerationSpec(prompts=(tokens,), sampling=SamplingParams(max_tokens=64), n=2)
    async for event in generate(backend, text_model, spec):
        ...  # ChoiceDelta, then one ChoiceEnd for each choice

`generation_spec` has the input, `generation_events` the output, `choice_text` turns the tokens of one choice into text,
`generate` runs all choices, `answer_check` validates a finished answer.
"""
