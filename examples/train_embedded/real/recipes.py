"""Recipes of two public-domain collections: times, servings, ingredients, steps."""

from __future__ import annotations

import random
import re

from .pages import _page
from .plain import front_matter, markdown
from .records import Record, Stated, cut

_FACTS = {
    "prep": re.compile(r"prep(?:aration)? time:?\**:? *([^\n]+)", re.IGNORECASE),
    "cook": re.compile(r"cook(?:ing)? time:?\**:? *([^\n]+)", re.IGNORECASE),
    "servings": re.compile(r"servings?:?\**:? *([^\n]+)", re.IGNORECASE),
}
_UNITS = (("hour", 60), ("hr", 60), ("h", 60), ("minute", 1), ("min", 1))


def minutes(written: str) -> int | None:
    """Minutes of `25 min`, `1 hour 10 minutes`; None for ranges and anything else."""
    total, rest = 0, written.lower()
    for found in re.finditer(r"(\d+)\s*(hours?|hrs?|h|minutes?|mins?)\b\.?", rest):
        total += int(found[1]) * next(size for name, size in _UNITS if found[2].startswith(name))
    left = re.sub(r"(\d+)\s*(hours?|hrs?|h|minutes?|mins?)\b\.?|and|,|\s", "", rest)
    return total if total and not left else None


def recipe(path: str, text: str) -> Record | None:
    """A recipe page with at least three ingredients."""
    rng = random.Random(path)
    header, _ = front_matter(text)
    page, body = _page(header), markdown(text)
    title = str(page.get("title") or "")
    found = re.search(r"^Ingredients:?\n+((?:- .*\n?|\s*\n)+)", body, re.MULTILINE)
    if not title or not found:
        return None
    ingredients = [line[2:].strip() for line in found[1].split("\n") if line.startswith("- ")]
    steps = re.findall(r"^\d+\. ", body, re.MULTILINE)
    written = {name: match[1].strip(" *") for name, pattern in _FACTS.items() if (match := pattern.search(body))}
    whole = f"{title}\n\n{body}"
    document = cut(whole, rng.choice((1200, 2400)), (title, *ingredients))
    if document is None or not 3 <= len(ingredients) <= 16:
        return None
    if len(document) < len(whole):
        steps = []
    servings = re.fullmatch(r"\D*(\d+)\D*", written.get("servings", ""))
    tags = [str(tag) for tag in page.get("tags") or ()]
    if rng.random() < 0.4 and tags:
        document += "\n\n" + rng.choice(("Tags: ", "Categories: ", "#")) + ", ".join(tags)
    else:
        tags = []
    fields = [
        Stated("name|title|recipe|dish|recipe_name", title),
        Stated("ingredients|ingredient_list|items|what_you_need", ingredients, "list", "each with its amount, as written"),
        Stated("prep_minutes|preparation_minutes|prep_time_min", minutes(written.get("prep", "")), "number", "in minutes"),
        Stated("cook_minutes|cooking_minutes|cook_time_min", minutes(written.get("cook", "")), "number", "in minutes"),
        Stated("prep_time|preparation_time|preparation", written.get("prep"), notes="as written"),
        Stated("cook_time|cooking_time|time_on_stove", written.get("cook"), notes="as written"),
        Stated("servings|serves|portions|yield", int(servings[1]) if servings else None, "number"),
        Stated("tags|categories", tags, "list"),
        Stated("author|cook|chef", None),
        Stated("oven_temperature|temperature_celsius", None, "number") if "°" not in document else Stated("price|cost", None, "number"),
    ]  # fmt: skip
    if steps:
        fields.append(Stated("number_of_steps|step_count|steps", len(steps), "number", "how many steps"))
    return Record("recipes", document, tuple(fields))
