"""The prompt of an extraction: the outline of the schema, instructions, worked examples and the document.

Does: build it both as chat messages (for general models) and as template variables (for the embedded model, which has a
chat template that uses only those). What is the same for many documents comes first, so that its keys and values are
found in the prefix cache. Does not: render templates or tokenize.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from intaglio.schemas.extraction.requests import Example, ExtractRequest, Message
from intaglio.schemas.json_pointer import local_target

from ..documents.seen_image import SeenImage
from .outline import USUAL, OutlineLimits, one_line, outline
from .prompt_text import prompt_text

INSTRUCTION = (
    "Extract the fields outlined below from the document the user sends. "
    "Answer with one compact JSON {root} in the order of the outline; "
    "use null or an empty list for what the document does not say."
)

_SPARSE = 6  # letters and digits; a document with fewer has nothing to copy
_LETTER = re.compile(r"<\|\w*\|>|([^\W_])")


@dataclass(frozen=True, slots=True)
class PromptParts:
    """The parts of a prompt other than the schema. `messages` are the document alone, or a whole conversation; `part`
    is the field of the request that they come from, as a dotted path. `images` are parts of the document; there is no
    message if it has no text besides them.
    """

    messages: tuple[Message, ...]
    instructions: str = ""
    examples: tuple[Example, ...] = ()
    part: str = "messages"
    images: tuple[SeenImage, ...] = ()

    @classmethod
    def of(cls, document: str) -> "PromptParts":
        """The parts for one text, without instructions and examples."""
        return cls((Message(role="user", content=document),), part="text")

    @property
    def document(self) -> str:
        """The text to extract from: the contents of all messages except instructions in the role `system`."""
        return "\n\n".join(part.content for part in self.messages if part.role != "system")

    @property
    def printed(self) -> str:
        """The document as the model sees it. Offsets and verbatim strings refer to `document`, as it was sent."""
        return prompt_text(self.document)

    @property
    def image_tokens(self) -> int:
        """The tokens of the images in a prompt."""
        return sum(image.tokens for image in self.images)

    @property
    def guidance(self) -> str:
        """The instructions of the request and of the conversation."""
        of_messages = [part.content for part in self.messages if part.role == "system"]
        return "\n\n".join(part for part in (self.instructions, *of_messages) if part.strip())


def parts_of(body: ExtractRequest, images: tuple[SeenImage, ...] = ()) -> PromptParts:
    """The parts that a request gives, with the images of its document.

    There are no messages if it has several texts, which `many_texts` separates.
    """
    parts = PromptParts(body.messages or ()) if body.text is None else PromptParts.of(body.text)
    if images and body.text is None:
        parts = replace(parts, part="images")
    return replace(
        parts, instructions=body.instructions or "", examples=body.examples, images=images
    )


@dataclass(frozen=True)
class ExtractionPrompt:
    """The prompt in both forms, of which the chat template uses one. `outline` is that of the schema, in full."""

    messages: tuple[Mapping[str, Any], ...]
    variables: Mapping[str, str]
    outline: str


def extraction_messages(
    schema: Mapping[str, Any], parts: PromptParts, limits: OutlineLimits = USUAL
) -> ExtractionPrompt:
    """The prompt from `parts` and `schema`, with the schema rendered by `outline`.

    An example is a user message with its text and an assistant message with its data. The embedded model reads
    instructions as a comment at the head of the outline, and has no place for examples (`Extractor` refuses them).

    The embedded model copies from its prompt. If the document has next to no text, the model would copy descriptions
    and instructions, so the template variables omit them then.
    """
    shape = outline(schema, limits=limits)
    sparse = is_sparse(parts.document)
    bare = outline(schema, limits=limits, described=False) if sparse else ""
    instruction = INSTRUCTION.format(root=_root(schema))
    guidance = prompt_text(parts.guidance)
    system = "\n\n".join(part for part in (instruction, shape, guidance) if part)
    return ExtractionPrompt(
        messages=(
            {"role": "system", "content": system},
            *_turns(schema, parts.examples),
            *_document(parts),
        ),
        variables={
            "schema": bare or (f"// {one_line(guidance)}\n{shape}" if guidance else shape),
            "document": parts.printed,
        },
        outline=shape,
    )


def _root(schema: Any) -> str:
    """The kind of the whole answer: "object", "array" or, where the schema names neither, "value"."""
    reference = schema.get("$ref")
    resolved = local_target(schema, reference) if isinstance(reference, str) else schema
    if not isinstance(resolved, Mapping):
        return "value"
    if resolved.get("type") in ("object", "array"):
        return str(resolved["type"])
    return "object" if "properties" in resolved else "value"


def _document(parts: PromptParts) -> Iterator[Mapping[str, Any]]:
    """The messages to extract from. With images there is one, in the parts of chat templates."""
    if not parts.images:
        for part in parts.messages:
            if part.role != "system":
                yield {"role": part.role, "content": prompt_text(part.content)}
        return
    text, content = parts.document, list[dict[str, str]]()
    borders = [0, *(image.at for image in parts.images), len(text)]
    for at, (start, end) in enumerate(pairwise(borders)):
        if at:
            content.append({"type": "image"})
        if between := text[start:end].strip("\n"):
            content.append({"type": "text", "text": prompt_text(between)})
    yield {"role": "user", "content": content}


def _turns(schema: Mapping[str, Any], examples: Sequence[Example]) -> tuple[Mapping[str, str], ...]:
    """The examples as a conversation, their data written as the model must write its answer."""
    return tuple(
        turn
        for example in examples
        for turn in (
            {"role": "user", "content": prompt_text(example.text)},
            {"role": "assistant", "content": _written(_ordered(example.data, schema, schema))},
        )
    )


def _written(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _ordered(data: Any, schema: Any, root: Mapping[str, Any]) -> Any:
    """`data` with properties in the order of the schema, which is the order of the answer. Where alternatives of the
    schema decide about the order, that of the example is kept.
    """
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        schema = local_target(root, schema["$ref"])
    if not isinstance(schema, Mapping):
        return data
    if isinstance(data, list):
        return [_ordered(item, schema.get("items"), root) for item in data]
    properties = schema.get("properties")
    if not isinstance(data, dict) or not isinstance(properties, Mapping):
        return data
    names = [*(name for name in properties if name in data), *data]
    return {name: _ordered(data[name], properties.get(name), root) for name in dict.fromkeys(names)}


def is_sparse(document: str) -> bool:
    """Whether a document has next to no letters and digits, not counting control tokens typed by its author."""
    letters = (found for found in _LETTER.finditer(document) if found[1])
    return next(islice(letters, _SPARSE - 1, None), None) is None
