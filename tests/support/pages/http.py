"""The page of the HTTP interface, from its OpenAPI document."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from intaglio.service.http.interface import OPERATIONS
from intaglio.service.http.openapi import document
from intaglio.service.http.operations import Ending, KeyScope, Operation, access_errors

from .markdown import HEADER, prose, slug, table

INTRO = """# HTTP reference

Call the service from any language: the routes, what each takes and answers, and the errors it may end in.

Bodies are JSON in UTF-8 unless a route says otherwise. A field that no type below names is refused with
`unknown_field`. Every response has the header `x-request-id`; send your own to find the request in the server's log.
Every response that is not a success has the body [ProblemDocument](#problemdocument); its `code` is stable and listed
under [Troubleshooting](../troubleshooting.md). `HEAD` is answered wherever `GET` is.

The same as a document for generators of clients: [openapi.json](openapi.json), or from a running server:

```console
$ curl -s localhost:8000/openapi.json | python -c 'import json, sys; print(json.load(sys.stdin)["openapi"])'
3.1.0
```
"""

_SCOPES: Mapping[KeyScope, str] = {
    KeyScope.ANY: "On a server with keys: needs any of them.",
    **{
        scope: f"On a server with keys: needs one with the scope `{scope}`."
        for scope in KeyScope
        if scope not in (KeyScope.ANY, KeyScope.NONE)
    },
}


def page() -> str:
    parts = [HEADER + INTRO]
    for group in dict.fromkeys(operation.group for operation in OPERATIONS):
        parts.append(f"## {group}\n")
        if group in ("Files", "Jobs"):
            parts.append("Only where the server runs with `--data`; `not_found` elsewhere.\n")
        parts += [_operation(operation) for operation in OPERATIONS if operation.group == group]
    parts.append("## Types\n")
    parts += [
        _type(name, told)
        for name, told in sorted(document(OPERATIONS)["components"]["schemas"].items())
    ]
    return "\n".join(parts)


def _operation(operation: Operation) -> str:
    lines = [
        f"### {operation.method} {operation.path}\n",
        f"{operation.summary}. {operation.description}".strip() + "\n",
    ]
    if operation.parameters:
        rows = [
            (
                f"`{p.name}`",
                p.place,
                _or(p.choices),
                f"`{p.default}`" if p.default else "",
                p.description,
            )
            for p in operation.parameters
        ]
        lines.append(table(("parameter", "in", "values", "default", "meaning"), rows))
    if operation.takes is not None:
        lines.append(f"Takes {_link(operation.takes.__name__)}.")
    elif operation.takes_media is not None:
        lines.append(f"Takes the file's bytes (`{operation.takes_media}`).")
    if operation.gives is not None:
        lines.append(f"Answers {operation.status} with {_link(operation.gives.__name__)}.")
    elif operation.gives_media:
        lines.append(f"Answers {operation.status} with `{operation.gives_media}`.")
    else:
        lines.append(f"Answers {operation.status} without a body.")
    if operation.streams:
        lines.append("Streams it as server-sent events if the request asks for them.")
    if operation.scope is not KeyScope.NONE:
        lines.append(_SCOPES[operation.scope])
    ended = (*operation.errors, *access_errors(operation))
    if ended:
        lines.append("\nErrors:\n\n" + "\n".join(_errors(ended)))
    return "\n".join(lines) + "\n"


def _errors(endings: Iterable[Ending]) -> Iterator[str]:
    """A line for each status, with its codes."""
    by_status: dict[int, list[str]] = {}
    for code, status in endings:
        link = f"[`{code.value}`](../troubleshooting.md#{code.value})"
        by_status.setdefault(status, []).append(link)
    for status in sorted(by_status):
        yield f"- {status}: {', '.join(by_status[status])}"


def _type(name: str, told: Mapping[str, Any]) -> str:
    lines = [f"### {name}\n"]
    if "description" in told:
        lines.append(prose(told["description"]) + "\n")
    if "enum" in told:
        lines.append(f"One of {_or(tuple(told['enum']))}.\n")
    elif "properties" in told:
        required = told.get("required", ())
        rows = [
            (
                f"`{field}`",
                type_of(of),
                "required" if field in required else _default(of),
                " ".join(filter(None, [of.get("description", ""), *_bounds(of)])),
            )
            for field, of in told["properties"].items()
        ]
        lines.append(table(("field", "type", "default", "meaning"), rows))
    elif name == "JsonValue":
        lines.append("Any JSON value.\n")
    return "\n".join(lines)


def type_of(told: Mapping[str, Any]) -> str:
    """The type that a JSON Schema describes, in a few words."""
    if "$ref" in told:
        return _link(told["$ref"].rpartition("/")[2])
    if "anyOf" in told:
        return " or ".join(type_of(each) for each in told["anyOf"])
    if "const" in told:
        return _or((told["const"],))
    if "enum" in told:
        return _or(tuple(told["enum"]))
    kind = told.get("type")
    if kind == "array":
        return f"list of {type_of(told.get('items', {}))}"
    return str(kind or "any JSON")


def _default(told: Mapping[str, Any]) -> str:
    match told.get("default"):
        case None:
            return "none"
        case bool(value):
            return f"`{str(value).lower()}`"
        case dict():
            return "all defaults"
        case [] | () | "":
            return "empty"
        case value:
            return f"`{value}`"


def _bounds(told: Mapping[str, Any]) -> Iterator[str]:
    """The bounds of a value, or of the one alternative that has any."""
    for each in (told, *told.get("anyOf", ())):
        low, high = each.get("minimum"), each.get("maximum")
        above, below = each.get("exclusiveMinimum"), each.get("exclusiveMaximum")
        if low is not None:
            yield f"At least {low:g}."
        if above is not None:
            yield f"Above {above:g}."
        if high is not None:
            yield f"At most {high:g}."
        if below is not None:
            yield f"Below {_power(below)}."
        if "minLength" in each:
            yield f"At least {each['minLength']} character{'s' * (each['minLength'] > 1)}."
        if "maxLength" in each:
            yield f"At most {each['maxLength']:,} characters."


def _power(value: float) -> str:
    return f"2^{int(value).bit_length() - 1}" if value > 2**31 else f"{value:g}"


def _or(values: tuple[Any, ...]) -> str:
    return ", ".join(
        f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in values
    )


def _link(name: str) -> str:
    return f"[{name}](#{slug(name)})"
