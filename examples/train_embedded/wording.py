"""Words, titles, phrases and codes: made so that copying them never depends on knowing them."""

from __future__ import annotations

from .draw import Draw
from .pools import places
from .values import STRING, Form, Value, text


def word(draw: Draw) -> str:
    """A frequent word, any word, or a coined one: copying must not depend on knowing it."""
    shape = draw.rng.random()
    if shape < 0.12:
        return draw.pick(places(draw.lang).glue)
    return draw.pick(places(draw.lang).word) if shape < 0.88 else coined(draw)


def words(draw: Draw, least: int, most: int) -> str:
    return " ".join(word(draw) for _ in range(draw.rng.randint(least, most)))


def title_words(draw: Draw, least: int = 1, most: int = 3) -> str:
    """Words as in a name: capitals, now and then with small words between them."""
    found = words(draw, least, most).split(" ")
    return " ".join(part if index and len(part) < 4 else part.capitalize() for index, part in enumerate(found))


def coined(draw: Draw) -> str:
    """A word nobody has seen, spliced from two that exist."""
    pool = places("en" if draw.chance(0.3) else draw.lang)
    first, second = draw.pick(pool.word), draw.pick(pool.word if draw.chance(0.7) else pool.family).lower()
    spliced = first[: draw.rng.randint(2, 5)] + second[draw.rng.randint(1, 3) :]
    return spliced if draw.chance(0.9) else spliced + draw.pick("ø|ü|ł|ska|ñez|é|ž|čić|sson|ğlu|ów|ães|opoulos|ö")


def phrase(draw: Draw) -> Value:
    found = words(draw, 2, 7)
    if draw.chance(0.3):
        found = found.capitalize()
    if draw.chance(0.08):
        found = f"{found} {draw.rng.randint(2, 90)}"
    return text(found, remake=phrase)


def title(draw: Draw) -> Value:
    found = title_words(draw, 1, 4)
    shape = draw.rng.random()
    if shape < 0.1:
        found = f"{found} {draw.rng.choice((draw.rng.randint(2, 40), draw.rng.randint(1990, 2030), 'II', 'A', 'Pro'))}"
    elif shape < 0.2:
        found = f"{found}{draw.pick(': | - | & | of the | and |, | for ')}{title_words(draw, 1, 2)}"
    elif shape < 0.26:
        found = found.upper()
    forms = [Form(found, STRING, weight=0.95)]
    if found.lower() != found:
        forms.append(Form(found.lower(), STRING, "lower case", weight=0.05))
    return Value(found, tuple(forms), title)


def sentence(draw: Draw) -> Value:
    return text(words(draw, 4, 12).capitalize(), remake=sentence)


def digits(draw: Draw, shape: str) -> str:
    """`shape` with `#` as a digit, `@` as a capital and `%` as a small letter."""
    rng = draw.rng
    signs = {
        "#": "0123456789",
        "@": "ABCDEFGHJKLMNPQRSTUVWXYZ",
        "%": "abcdefghijklmnopqrstuvwxyz",
        "*": "0123456789abcdef",
    }
    return "".join(rng.choice(signs[sign]) if sign in signs else sign for sign in shape)


def code_text(draw: Draw) -> str:
    shape = draw.pick(
        "@@-####|####-##|@@@/####/##|@####|########|@@##-@@##|20##-####|@@ ######|##-###-##|@@@@-###|#####|@-##-####"
        "|%%%-####|@@@##@|####.####|20##/###|@##.###|######-@|@@@-20##-####|#@@####|***-****|********|@@-%%-##|##/####"
        "|@@@ ###|@@-#####-#|#-####-###|@@@@####|20######|@.#### |@@@-@@@-###"
    ).strip()
    return digits(draw, shape)


def code(draw: Draw) -> Value:
    return text(code_text(draw), remake=code)
