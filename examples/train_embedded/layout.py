"""Lays a draft out as text: labelled lines, prose, tables, e-mail, markup, each with noise."""

from __future__ import annotations

import json
from collections.abc import Callable

from .draft import Content, Fact
from .draw import Draw
from .entities import email_of, person_name
from .grid import tables
from .phrases import LEAD, LINES, NO_VALUE, NOISE, PLAIN, WAS, fill
from .wording import title_words


def lay_out(draw: Draw, content: Content) -> str:
    """The document's text. Every present fact is in it exactly once with its true value."""
    name = draw.pick(
        content.draft.layouts
        or "labelled|labelled|labelled|prose|prose|prose|mixed|mixed|mixed|email|email|email|form|markup|inline|table|thread|sections"
    )
    body = _LAYOUTS[name](draw, content)
    parts = [part for part in body if part.strip()]
    chatter = draw.rng.randint(6, 24) if draw.chance(0.05) else draw.rng.choice((0, 0, 1, 1, 2, 3, 5))
    for _ in range(chatter):
        parts.insert(draw.rng.randint(1 if parts else 0, len(parts)), _noise(draw, content))
    glue = draw.rng.choice(("\n\n", "\n\n", "\n"))
    text = glue.join(parts)
    return _scan(draw, text) if draw.chance(0.06) else text


def _noise(draw: Draw, content: Content) -> str:
    own = content.draft.noise if draw.chance(0.6) else ""
    return " ".join(fill(draw, draw.pick(own or NOISE[draw.lang])) for _ in range(draw.rng.randint(1, 2)))


def _label(draw: Draw, fact: Fact) -> str:
    return draw.pick(fact.labels or fact.keys).replace("_", " ").strip()


def _shown(draw: Draw, fact: Fact) -> str:
    """The written value, now and then with a superseded one behind it."""
    if fact.value.remake and draw.chance(0.05):
        other = fact.value.remake(draw).written
        if other != fact.value.written:
            return fact.value.written + draw.pick(WAS[draw.lang]).replace("{}", other)
    return fact.value.written


def _pairs(draw: Draw, content: Content, facts: list[Fact]) -> list[tuple[str, str]]:
    """Labels and values; a few facts that are left out stand there with an empty value."""
    case = draw.rng.choice((str, str, str, str, str.upper, str.title, str.lower, str.capitalize))
    pairs = [(case(_label(draw, fact)), _shown(draw, fact)) for fact in facts]
    for fact in content.absent:
        if draw.chance(0.25):
            pairs.insert(draw.rng.randint(0, len(pairs)), (case(_label(draw, fact)), draw.pick(NO_VALUE[draw.lang])))
    return pairs


def _lines(draw: Draw, pairs: list[tuple[str, str]]) -> str:
    if draw.chance(0.2):
        width = max((len(label) for label, _ in pairs), default=0) + draw.rng.randint(1, 4)
        colon = draw.pick(":||")
        return "\n".join(f"{label + colon:<{width}} {value}" for label, value in pairs)
    line = draw.pick(LINES)
    return "\n".join(line.replace("{l}", label).replace("{v}", value) for label, value in pairs)


def _say(draw: Draw, fact: Fact) -> str:
    shown = _shown(draw, fact)
    if fact.says:
        said = draw.pick(fact.says).replace("{}", shown)
    else:
        label = _label(draw, fact)
        said = draw.pick(PLAIN[draw.lang]).replace("{l}", label.lower() if draw.lang != "de" else label)
        said = said.replace("{L}", label[:1].upper() + label[1:]).replace("{v}", shown)
    if draw.chance(0.12):
        return fill(draw, draw.pick(LEAD[draw.lang])) + said
    if said.startswith(shown) or draw.chance(0.1):
        return said
    return said[:1].upper() + said[1:]


def _prose(draw: Draw, facts: list[Fact]) -> str:
    said = [_say(draw, fact) for fact in facts]
    if draw.chance(0.3):
        draw.rng.shuffle(said)
    said = _joined(draw, said)
    paragraphs: list[str] = []
    while said:
        size = draw.rng.randint(2, 5)
        paragraphs.append(" ".join(said[:size]))
        said = said[size:]
    return draw.rng.choice(("\n\n", "\n")).join(paragraphs)


def _joined(draw: Draw, said: list[str]) -> list[str]:
    """The sentences, some of them run together with the one before."""
    joint = {"en": ", and |; | - |, while ", "de": ", und |; | - ", "fr": ", et |; | - ", "es": ", y |; | - "}[
        draw.lang
    ]
    found: list[str] = []
    for sentence_ in said:
        if found and found[-1].endswith(".") and sentence_[:1].isupper() and draw.chance(0.12):
            found[-1] = found[-1][:-1] + draw.pick(joint) + sentence_
        else:
            found.append(sentence_)
    return found


def _title(draw: Draw, content: Content) -> str:
    if not content.draft.titles or draw.chance(0.2):
        return ""
    title = fill(draw, draw.pick(content.draft.titles))
    return draw.rng.choice(
        (
            str,
            str,
            str.upper,
            lambda t: f"# {t}",
            lambda t: f"*** {t} ***",
            lambda t: f"{t}\n{'=' * len(t)}",
            lambda t: f"== {t} ==",
        )
    )(title)


def _opening(draw: Draw, content: Content) -> str:
    return fill(draw, draw.pick(content.draft.openers)) if content.draft.openers and draw.chance(0.6) else ""


def _closing(draw: Draw, content: Content) -> str:
    return fill(draw, draw.pick(content.draft.closers)) if content.draft.closers and draw.chance(0.6) else ""


def _heads(draw: Draw, content: Content) -> tuple[list[str], list[Fact]]:
    """Facts that stand bare at the top, and the others."""
    bare = [fact for fact in content.present if draw.chance(fact.bare)]
    return [fact.value.written for fact in bare], [fact for fact in content.present if fact not in bare]


def _labelled(draw: Draw, content: Content) -> list[str]:
    if any(fact.inner for fact in content.present) and draw.chance(0.7):
        return _blocks(draw, content)
    heads, rest = _heads(draw, content)
    if draw.chance(0.3):
        draw.rng.shuffle(rest)
    block = _lines(draw, _pairs(draw, content, rest))
    return [_title(draw, content), "\n".join(heads), block, *tables(draw, content), _closing(draw, content)]


def _blocks(draw: Draw, content: Content) -> list[str]:
    """One block a group, under its name; the lines inside do not repeat the name."""
    groups: dict[str, list[Fact]] = {}
    for fact in content.present:
        groups.setdefault(fact.group, []).append(fact)
    line = draw.pick(LINES)
    bare = draw.chance(0.25)
    parts = []
    for name, facts in groups.items():
        head = draw.pick(name).replace("_", " ")
        head = draw.rng.choice(
            (head, head.capitalize(), head.upper(), f"{head.capitalize()}:", f"[{head}]", f"## {head}")
        )
        rows = [(draw.pick(fact.inner or fact.labels).replace("_", " "), _shown(draw, fact)) for fact in facts]
        lines = [
            value if bare and facts[0].inner else line.replace("{l}", label.capitalize()).replace("{v}", value)
            for label, value in rows
        ]
        parts.append("\n".join([head, *lines]))
    return [_title(draw, content), *parts, *tables(draw, content), _closing(draw, content)]


def _sections(draw: Draw, content: Content) -> list[str]:
    heads, rest = _heads(draw, content)
    cut = draw.rng.randint(0, len(rest))
    first = _lines(draw, _pairs(draw, content, rest[:cut]))
    second = "\n".join(
        f"{label}: {value}" for label, value in ((_label(draw, fact), _shown(draw, fact)) for fact in rest[cut:])
    )
    mark = draw.pick("## |--- |[|")
    names = [
        f"{mark}{draw.pick('Details|Info|Part A|Overview|General|Data')}",
        f"{mark}{draw.pick('Further|Part B|More|Other|Notes')}",
    ]
    return [
        _title(draw, content),
        "\n".join(heads),
        f"{names[0]}\n{first}",
        *tables(draw, content),
        f"{names[1]}\n{second}",
    ]


def _prose_only(draw: Draw, content: Content) -> list[str]:
    facts = list(content.present)
    return [
        _title(draw, content),
        _opening(draw, content),
        _prose(draw, facts),
        *tables(draw, content),
        _closing(draw, content),
    ]


def _mixed(draw: Draw, content: Content) -> list[str]:
    heads, rest = _heads(draw, content)
    draw.rng.shuffle(rest)
    cut = draw.rng.randint(0, len(rest))
    parts = [_lines(draw, _pairs(draw, content, rest[:cut])), _prose(draw, rest[cut:]), *tables(draw, content)]
    if draw.chance(0.4):
        parts.reverse()
    return [_title(draw, content), "\n".join(heads), _opening(draw, content), *parts, _closing(draw, content)]


def _mail(draw: Draw, content: Content) -> list[str]:
    sender, reader = person_name(draw), person_name(draw)
    names = {
        "en": ("From", "To", "Subject", "Date"),
        "de": ("Von", "An", "Betreff", "Datum"),
        "fr": ("De", "À", "Objet", "Date"),
        "es": ("De", "Para", "Asunto", "Fecha"),
    }[draw.lang]
    head = [f"{names[0]}: {sender} <{email_of(draw, sender)}>"]
    if draw.chance(0.6):
        head.append(f"{names[1]}: {email_of(draw, reader)}")
    head.append(
        f"{names[2]}: {fill(draw, draw.pick(content.draft.titles)) if content.draft.titles else title_words(draw)}"
    )
    hello = draw.pick(
        {
            "en": "Hi {},|Dear {},|Hello {},|{},|Hi all,|Good morning {},",
            "de": "Hallo {},|Guten Tag {},|Sehr geehrte Damen und Herren,",
            "fr": "Bonjour {},|Madame, Monsieur,",
            "es": "Hola {}:|Estimado/a {}:",
        }[draw.lang]
    ).replace("{}", reader.split()[0])
    bye = draw.pick(
        {
            "en": "Best,|Kind regards,|Thanks,|Cheers,|Best wishes,|Yours,|--",
            "de": "Viele Grüße|Mit freundlichen Grüßen|Gruß|--",
            "fr": "Cordialement,|Bien à vous,|--",
            "es": "Saludos,|Un saludo,|--",
        }[draw.lang]
    )
    facts = list(content.present)
    body = _prose(draw, facts) if draw.chance(0.6) else _lines(draw, _pairs(draw, content, facts))
    return [
        "\n".join(head) if draw.chance(0.7) else "",
        hello,
        _opening(draw, content),
        body,
        *tables(draw, content),
        f"{bye}\n{sender}",
    ]


def _letter(draw: Draw, content: Content) -> list[str]:
    """Header lines, a body, a signature: facts without sentences stand in the header."""
    head = [f"{_label(draw, fact).capitalize()}: {_shown(draw, fact)}" for fact in content.present if not fact.says]
    body = _prose(draw, [fact for fact in content.present if fact.says])
    chatter = [_noise(draw, content) for _ in range(draw.rng.randint(0, 2))]
    return ["\n".join(head), _opening(draw, content), *chatter, body, *tables(draw, content), _closing(draw, content)]


def _card(draw: Draw, content: Content) -> list[str]:
    """A signature or a card: most lines are bare values, numbers have a short label."""
    bye = {
        "en": "Kind regards|Best,|Thanks|--|",
        "de": "Viele Grüße|Mit freundlichen Grüßen|",
        "fr": "Cordialement|",
        "es": "Un saludo|",
    }
    facts = list(content.present)
    if draw.chance(0.5):
        draw.rng.shuffle(facts)
    mark = draw.rng.choice((": ", " ", ". ", "  "))
    lines = [
        fact.value.written
        if fact.bare and draw.chance(0.5 + fact.bare / 2)
        else f"{_label(draw, fact)}{mark}{_shown(draw, fact)}"
        for fact in facts
    ]
    joint = draw.rng.choice(("\n", "\n", "\n", " | ", " · "))
    before = [_noise(draw, content) for _ in range(draw.rng.randint(0, 3))]
    return [*before, draw.pick(bye[draw.lang]) if before else "", joint.join(lines), *tables(draw, content)]


def _thread(draw: Draw, content: Content) -> list[str]:
    """An e-mail above the older one it answers; the older one holds outdated values."""
    old = [fact for fact in content.present if fact.value.remake and draw.chance(0.5)]
    quoted = [f"> {_label(draw, fact)}: {fact.value.remake(draw).written}" for fact in old if fact.value.remake]
    quoted += [f"> {_noise(draw, content)}"]
    start = draw.pick(
        "On {date} {person} wrote:|-----Original message-----|> {person}, {date}:|Earlier message (outdated):"
    )
    new = draw.pick(
        "Please note the changes below the old mail was wrong.|Corrected data:|Here are the final values:|Update, please use these values only:"
    )
    return [
        *_mail(draw, content)[:2],
        new if draw.lang == "en" else "",
        *_mail(draw, content)[3:],
        fill(draw, start) + "\n" + "\n".join(quoted),
    ]


def _form(draw: Draw, content: Content) -> list[str]:
    pairs = _pairs(draw, content, list(content.present))
    cells = [f"{label}: {value}" for label, value in pairs]
    width = max((len(cell) for cell in cells), default=0) + 4
    lines = [
        f"{cells[at]:<{min(width, 48)}}{'    ' if at + 1 < len(cells) else ''}{cells[at + 1] if at + 1 < len(cells) else ''}".rstrip()
        for at in range(0, len(cells), 2)
    ]
    return [_title(draw, content), "\n".join(lines), *tables(draw, content), _closing(draw, content)]


def _inline(draw: Draw, content: Content) -> list[str]:
    glue = draw.rng.choice((" · ", " | ", "; ", " / ", ", ", " -- ", " • "))
    heads, rest = _heads(draw, content)
    line = glue.join(
        heads + [f"{label}{draw.rng.choice((': ', ' ', ' = '))}{value}" for label, value in _pairs(draw, content, rest)]
    )
    return [_title(draw, content), line, *tables(draw, content)]


def _table(draw: Draw, content: Content) -> list[str]:
    pairs = _pairs(draw, content, list(content.present))
    if draw.chance(0.5):
        lines = [f"| {label} | {value} |" for label, value in pairs]
        if draw.chance(0.6):
            lines[:0] = [f"| {draw.pick('Field|Item|Name')} | {draw.pick('Value|Content|Entry')} |", "|---|---|"]
        return [_title(draw, content), "\n".join(lines), *tables(draw, content)]
    glue = draw.rng.choice((",", ";", "\t", " | "))
    rows = [
        glue.join(label for label, _ in pairs),
        glue.join(f'"{value}"' if glue in value else value for _, value in pairs),
    ]
    return [_title(draw, content), "\n".join(rows), *tables(draw, content)]


def _markup(draw: Draw, content: Content) -> list[str]:
    pairs = [(label.replace(" ", "_").lower(), value) for label, value in _pairs(draw, content, list(content.present))]
    shape = draw.pick("json|yaml|xml|html|ini")
    if shape == "json":
        body = json.dumps(dict(pairs), ensure_ascii=False, indent=draw.rng.choice((None, 2)))
    elif shape == "xml":
        body = "\n".join(f"<{label}>{value}</{label}>" for label, value in pairs)
    elif shape == "html":
        body = (
            "<table>\n"
            + "\n".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in pairs)
            + "\n</table>"
        )
    else:
        body = "\n".join(f"{label}{': ' if shape == 'yaml' else '='}{value}" for label, value in pairs)
    return [_title(draw, content), body, *tables(draw, content)]


def _scan(draw: Draw, text: str) -> str:
    """A scanner's leavings around the text, never inside a value."""
    lines = [f"{' ' * draw.rng.randint(0, 3)}{line}" if draw.chance(0.3) else line for line in text.split("\n")]
    return "\n".join(
        [
            draw.pick("[scan p. 1]|~~ . ,|=== OCR ===|[stamp: RECEIVED]|- 1 -"),
            *lines,
            draw.pick("[end of page]|. , '|~|[illegible]|- 1 -"),
        ]
    )


_LAYOUTS: dict[str, Callable[[Draw, Content], list[str]]] = {
    "labelled": _labelled,
    "prose": _prose_only,
    "mixed": _mixed,
    "email": _mail,
    "form": _form,
    "markup": _markup,
    "inline": _inline,
    "table": _table,
    "thread": _thread,
    "letter": _letter,
    "card": _card,
    "sections": _sections,
}
