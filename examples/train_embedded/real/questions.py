"""Paragraphs with questions that people asked about them, out of XQuAD (CC BY-SA 4.0), in English, German and Spanish.

Each question describes a field; its name is made of the question's words. A question about another article has no answer.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

from .records import Record, Stated

_PLAIN = frozenset(
    "what which who whom whose when where why how many much did does do the was were are is has have had and for with from that this his her their its into about after before during been being than then there"
    " was wer wie viele wann wo welche welcher welches warum der die das ein eine einen einem einer und den dem des von zu im in war waren wurde wurden hat hatte ist sind nach bei auf mit für als"
    " qué quién cuál cuáles cuándo dónde cuántos cuántas cómo los las una uno del por con fue era son para como que sus".split()
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def paragraphs(path: str, text: str) -> Iterator[Record]:
    """Each paragraph with its questions and one of another article."""
    rng = random.Random(path)
    articles = json.loads(text)["data"]
    for index, article in enumerate(articles):
        elsewhere = articles[(index + rng.randint(1, len(articles) - 1)) % len(articles)]
        for paragraph in article["paragraphs"]:
            asked = [_asked(each["question"], each["answers"][0]["text"]) for each in paragraph["qas"]]
            foreign = rng.choice(rng.choice(elsewhere["paragraphs"])["qas"])["question"]
            fields = [each for each in (*asked, _asked(foreign, None)) if each is not None]
            yield Record("questions", paragraph["context"], tuple(fields))


def _asked(question: str, answer: str | None) -> Stated | None:
    words = [word.lower() for word in _WORD.findall(question) if word.lower() not in _PLAIN]
    if not words:
        return None
    names = {"_".join(words[:4]), "_".join(words[-4:]), "_".join(words[:6])}
    number = question.lower().startswith(("how many", "wie viele", "cuántos", "¿cuánt"))
    if number and answer is not None and answer.isdigit():
        return Stated("|".join(sorted(names)), int(answer), "number", question.strip())
    return Stated("|".join(sorted(names)), answer, notes=question.strip())
