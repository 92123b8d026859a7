"""A few sentences about a place: what kind it is, what it costs, whether children may come."""

from __future__ import annotations

from ..draw import Draw
from ..real.records import Record, Stated
from ..wording import coined, title_words

_KINDS = {
    "restaurant": "restaurant|eatery|place to eat",
    "pub": "pub|tavern|public house",
    "coffee shop": "coffee shop|café|cafe",
    "hotel": "hotel|guest house|inn",
    "bar": "bar|cocktail bar|wine bar",
    "bakery": "bakery|patisserie",
    "museum": "museum|gallery",
    "gym": "gym|fitness studio",
    "shop": "shop|store|boutique",
    "park": "park|garden",
}
_FOOD = "Greek|Thai|Mexican|Spanish|Vegan|Turkish|Korean|Vietnamese|Seafood|Italian|French|Indian|Japanese|Chinese|English|Fast food"
_PRICE = {
    "cheap": "cheap|inexpensive|low-priced|affordable|low cost|easy on the wallet",
    "moderate": "moderately priced|mid-range|average priced|reasonably priced",
    "high": "expensive|high-priced|pricey|upscale|costly",
}
_RATING = {
    "low": "poorly rated|low customer rating|one star|badly reviewed|rated low",
    "average": "average customer rating|rated average|three stars|decent reviews",
    "high": "highly rated|high customer rating|five stars|excellent reviews|top-rated",
}
_AREA = {
    "city centre": "city centre|centre of town|downtown|heart of the city",
    "riverside": "riverside|river bank|by the river|along the river",
    "suburb": "suburbs|outskirts|edge of town",
    "harbour": "harbour|docks|waterfront",
    "old town": "old town|historic quarter",
}
_FLAGS = {
    "family_friendly|kid_friendly|children_welcome": ("It is family friendly.|Children are welcome.|A good place to take the kids.|It is kid friendly.|You can bring your family.", "It is not family friendly.|Adults only.|Not a place for children.|Leave the kids at home.|It is not suitable for families."),
    "dogs_allowed|pets_welcome|dog_friendly": ("Dogs may come along.|Bring your dog.|Pets are welcome.", "No dogs, please.|Pets have to stay outside.|Animals are not allowed."),
    "parking|has_parking|car_park": ("There is parking behind the house.|You can leave your car at the door.|It has its own car park.", "There is nowhere to park.|No parking nearby.|Come on foot, there is no car park."),
    "wheelchair_access|accessible|step_free": ("Step-free throughout.|Wheelchairs have no trouble getting in.|It is accessible.", "Stairs only, sadly.|Wheelchair users cannot get in.|It is not accessible."),
    "reservation_needed|booking_required|must_book": ("Book ahead or you will wait.|Reservations are a must.|You need to reserve.", "No need to book.|Just walk in.|They take no reservations."),
    "outdoor_seating|terrace|tables_outside": ("You can sit outside.|There is a terrace.|Tables stand in the garden.", "Indoors only.|There are no tables outside."),
}  # fmt: skip


def _enum(draw: Draw, keys: str, options: dict[str, str], said: str | None, notes: str = "") -> Stated:
    return Stated(keys, said, "enum", notes, tuple(options))


def _some(draw: Draw, options: dict[str, str], share: float) -> tuple[str | None, str]:
    """A class, or none, and words for it."""
    if not draw.chance(share):
        return None, ""
    found = draw.rng.choice(list(options))
    return found, draw.pick(options[found])


def place(draw: Draw, pieces: list[str]) -> Record:
    rng = draw.rng
    name, other = title_words(draw, 1, 3), (title_words(draw, 1, 2) if draw.chance(0.7) else coined(draw).capitalize())
    kind, kind_said = _some(draw, _KINDS, 0.85)
    food = draw.pick(_FOOD) if draw.chance(0.6) and kind in (None, "restaurant", "pub", "coffee shop", "bar") else None
    price, price_said = _some(draw, _PRICE, 0.55)
    rating, rating_said = _some(draw, _RATING, 0.5)
    area, area_said = _some(draw, _AREA, 0.5)
    near = other if draw.chance(0.45) else None
    noun = kind_said or "place"
    first = draw.pick(
        "{n} is a {p}{k}{a}.|{n}, a {p}{k}{a}, is worth a visit.|There is a {p}{k} called {n}{a}.|{n} is {p}{k} you should know{a}.|If you look for a {p}{k}{a}, try {n}.|A {p}{k}{a} is {n}."
    )
    middle = draw.pick("in the {}| in the {} area|, {},").strip() if area else ""
    where = f" {middle.replace('{}', area_said)}" if area else ""
    first = (
        first.replace("{n}", name)
        .replace("{p}", f"{price_said} " if price and draw.chance(1) else "")
        .replace("{k}", noun)
        .replace("{a}", where)
    )
    said = []
    if food:
        said.append(
            draw.pick(
                "It serves {} food.|{} dishes are on the menu.|The kitchen is {}.|You get {} food there."
            ).replace("{}", food if draw.chance(0.7) else food.lower())
        )
    if rating:
        said.append(
            draw.pick("It is {}.|Customers: {}.|Online it comes out as {}.|It has been {}.").replace("{}", rating_said)
        )
    if near:
        said.append(
            draw.pick("It is near {}.|You find it close to {}.|It is next to {}.|Look for it beside {}.").replace(
                "{}", near
            )
        )
    flags: list[Stated] = []
    for keys in rng.sample(list(_FLAGS), rng.randint(1, 4)):
        truth = rng.choice((True, False, None))
        if truth is not None:
            said.append(draw.pick(_FLAGS[keys][0 if truth else 1]))
        flags.append(Stated(keys, truth, "flag", "null if not stated"))
    rng.shuffle(said)
    text = " ".join((first, *said) if draw.chance(0.8) else (*said, first))
    foods = {each: each for each in _FOOD.split("|")}
    kept = {each: each for each in foods if each == food or draw.chance(0.5)}
    fields = (
        Stated("name|venue|place|title", name),
        _enum(draw, "kind|type|category|venue_type", _KINDS, kind, "sort of place"),
        _enum(draw, "food|cuisine|kitchen", kept, food) if draw.chance(0.6) else Stated("opening_hours|hours", None),
        _enum(draw, "price_range|price_level|prices", _PRICE, price),
        _enum(draw, "customer_rating|rating|reviews", _RATING, rating),
        _enum(draw, "area|location|part_of_town", _AREA, area),
        Stated("near|close_to|nearby|landmark", near, notes="name of a place nearby"),
        *flags,
        Stated("phone|telephone", None),
    )  # fmt: skip
    return Record("place", text, fields)
