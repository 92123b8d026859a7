"""Tool calls, independent of a protocol: the constraint under which a model writes them, and the parser of its output.

    plan = plan_tools(tool_format, tools, ToolChoice("auto"))
    plan.constraint  # a structural tag, to be examined like any constraint
    reader = plan.reader()
    reader.read(text)  # ContentText, ToolCallStart, ToolCallArguments

`tool_values` has the input, `reply_parts` the output; `hermes`, `llama3`, `mistral`, `mistral_args` and
`extraction_calls` are the wire formats, `known_formats` the choice among them, `tool_messages` the rendering of tools,
calls and results for a chat template.
"""
