"""GBNF rewritten as a Lark grammar, for Lark's parser as an oracle of GBNF. Shares no code with our reader."""

import re

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<rule>[A-Za-z_][\w-]*)\s*::=
    |(?P<name>[A-Za-z_][\w-]*)
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<chars>\[(?:[^\]\\]|\\.)*\])
    |(?P<times>\{\s*(?P<low>\d+)\s*(?P<more>,)?\s*(?P<high>\d+)?\s*\})
    |(?P<any>\.)
    |(?P<mark>[()|?*+])
    |(?P<space>\s+)""",
    re.VERBOSE,
)
_ESCAPES = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "\\": "\\",
    '"': '"',
    "[": "[",
    "]": "]",
    "-": "-",
    "^": "^",
    "/": "/",
}


def lark_source(gbnf: str) -> str:
    """The same rules in Lark's notation; the rule `root` becomes `start`. Raises ValueError for what it cannot read."""
    lines: list[str] = []
    at = 0
    while at < len(gbnf):
        found = _TOKEN.match(gbnf, at)
        if found is None:
            raise ValueError(f"no token at {at}: {gbnf[at : at + 20]!r}")
        at = found.end()
        if found["rule"]:
            lines.append(f"{_name(found['rule'])}:")
        elif lines and not found["comment"]:
            lines[-1] += _piece(found, lines[-1])
    return "\n".join(lines) + "\n"


def _piece(found: "re.Match[str]", line: str) -> str:
    if found["name"]:
        return " " + _name(found["name"])
    if found["text"]:
        letters = "".join(_letter(each) for each in _letters(found["text"][1:-1]))
        return f" /{letters}/" if letters else " "
    if found["chars"]:
        return f" /{_chars(found['chars'])}/"
    if found["any"]:
        return r" /(.|\n)/"
    if found["times"]:
        return _times(found, line)
    return found["mark"] or ""


def _times(found: "re.Match[str]", line: str) -> str:
    low, high = int(found["low"]), found["high"]
    if not found["more"]:
        return f"~{low}"
    if high is not None:
        return f"~{low}..{high}"
    last = re.search(r"(/(?:[^/\\]|\\.)*/|\w+|\([^()]*\))$", line)
    if last is None:
        raise ValueError(f"a repeat without end in {line!r}")
    return f"~{low} {last[0]}*"


def _name(name: str) -> str:
    """A rule's name: Lark's are lower case, without hyphens."""
    capitals = "".join(str(int(letter.isupper())) for letter in name)
    return "start" if name == "root" else f"r_{name.replace('-', '_d_').lower()}_{capitals}"


def _letters(text: str) -> list[str]:
    return re.findall(
        r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\.|[^\\]", text, re.DOTALL
    )


def _letter(piece: str) -> str:
    if len(piece) == 1:
        char = piece
    elif piece[1] in "xuU":
        char = chr(int(piece[2:], 16))
    else:
        char = _ESCAPES[piece[1]]
    if char.isalnum() or ord(char) > 126:
        return char
    return f"\\x{ord(char):02x}" if ord(char) < 32 else "\\" + char


def _chars(text: str) -> str:
    inner = text[1:-1]
    sign = "^" if inner.startswith("^") else ""
    pieces = _letters(inner[len(sign) :])
    found = []
    for i, piece in enumerate(pieces):
        between = piece == "-" and 0 < i < len(pieces) - 1
        found.append("-" if between else _letter(piece))
    return f"[{sign}{''.join(found)}]"
