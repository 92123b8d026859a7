"""Conversations with what was agreed in the end, out of the Schema-Guided Dialogue data set (CC BY-SA 4.0).

Does: write a dialogue as a log, and state what its annotators tracked: the last value of each wish, what the assistant
named once, whether anything was booked. Does not: state a value that the log does not show.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .records import Record, Stated

_SPEAKERS = (("User", "Assistant"), ("Customer", "Agent"), ("Caller", "Operator"), ("Guest", "Desk"), ("Client", "Clerk"), ("Q", "A"), ("Visitor", "Bot"))  # fmt: skip
_NAMES = "Ada Amir Anke Bea Ben Carla Chidi Dana Diego Ebba Elif Enzo Farah Felix Gwen Hugo Ines Ivo Jana Jonas Kenji Kofi Lars Lena Luca Maeve Malik Mara Milo Nadia Nils Noor Olga Omar Paula Priya Ravi Rosa Sami Silke Tariq Tess Uma Vera Wanda Yara Yusuf Zoe".split()
_ROLES = "support|agent|service|help desk|front desk|bookings".split("|")
_CLOCK = re.compile(r"\d\d:\d\d")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ABSENT = 3


@dataclass
class _Known:
    """What one file says of the slots: classes of those that are never copied from a turn, and all names."""

    classes: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    copied: set[tuple[str, str]] = field(default_factory=set)
    intents: set[str] = field(default_factory=set)


def conversations(path: str, text: str) -> Iterator[Record]:
    """Each dialogue of a file, some of them without their end."""
    dialogues = json.loads(text) if text.strip() else []
    known = _known(dialogues)
    for dialogue in dialogues:
        rng = random.Random(dialogue["dialogue_id"])
        turns = dialogue["turns"]
        if rng.random() < 0.5:
            turns = turns[: max(4, rng.randint(len(turns) // 2, len(turns)))]
        record = _record(turns, known, rng)
        if len(record.fields) > 2:
            yield record


def _known(dialogues: list[dict[str, Any]]) -> _Known:
    known = _Known()
    for dialogue in dialogues:
        for turn in dialogue["turns"]:
            for frame in turn["frames"]:
                service = frame["service"]
                known.copied |= {(service, span["slot"]) for span in frame["slots"]}
                state = frame.get("state", {})
                if state.get("active_intent", "NONE") != "NONE":
                    known.intents.add(_words(state["active_intent"]))
                for slot, values in state.get("slot_values", {}).items():
                    known.classes[service, slot] |= {value for value in values if value != "dontcare"}
    return known


def _record(turns: list[dict[str, Any]], known: _Known, rng: random.Random) -> Record:
    document, spoken = _log(turns, rng)
    wanted: dict[tuple[str, str], list[str]] = {}
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    exact: dict[str, str] = {}
    intent, done = "", False
    for turn in turns:
        for frame in turn["frames"]:
            service, state = frame["service"], frame.get("state", {})
            wanted.update({(service, slot): values for slot, values in state.get("slot_values", {}).items()})
            if state.get("active_intent", "NONE") != "NONE":
                intent = _words(state["active_intent"])
            for action in frame["actions"]:
                done = action["act"] == "NOTIFY_SUCCESS" or (done and action["act"] != "NOTIFY_FAILURE")
                exact.update(zip(action["values"], action["canonical_values"], strict=False))
                if action["slot"] and action["slot"] not in ("intent", "count"):
                    named[service, action["slot"]] |= set(action["values"])
    fields = [*spoken]
    several = {slot for _, slot in wanted if len({service for service, name in wanted if name == slot}) > 1}
    for (service, slot), values in wanted.items():
        key = f"{_service(service)}_{slot}" if slot in several else slot
        fields += _stated(key, values, known, (service, slot), exact, document)
    for (service, slot), found in named.items():
        if (service, slot) not in wanted and len(found) == 1 and slot not in several:
            fields += _stated(slot, [*found], known, (service, slot), exact, document, said=True)
    services = {service for service, _ in wanted}
    silent = [each for each in known.classes if each[0] in services and each not in wanted and each not in named]
    rng.shuffle(silent)
    fields += [_silent(slot, known, (service, slot)) for service, slot in silent[:_ABSENT] if slot not in several]
    if intent and len(known.intents) > 1:
        notes = "what the customer is after at the end|last request of the caller"
        fields.append(Stated("intent|request|task|purpose", intent, "enum", notes, _some(known.intents, intent, rng)))
    notes = "whether something was booked, bought or sent in the end|did the transaction go through"
    fields.append(Stated("completed|booked|confirmed|transaction_done", done, "flag", notes))
    return Record("conversation", document, tuple({each.keys: each for each in fields}.values()))


def _log(turns: list[dict[str, Any]], rng: random.Random) -> tuple[str, list[Stated]]:
    """The dialogue as a log, and what its margin says: names of the speakers, times of the first and last line."""
    fields: list[Stated] = []
    user, system = rng.choice(_SPEAKERS)
    shown = system
    if rng.random() < 0.5:
        user, system = rng.sample(_NAMES, 2)
        shown = f"{system} ({rng.choice(_ROLES)})"
        fields.append(Stated("agent|handled_by|adviser|employee", system, notes="first name of the one that helps"))
        fields.append(Stated("customer|customer_name|caller|client", user, notes="first name of the one that asks"))
    stamp = rng.choice(("", "", "[{}] ", "{} ", "{} - ", "({}) "))
    minute = rng.randint(420, 1200)
    times, lines = [], []
    for turn in turns:
        times.append(f"{minute // 60:02}:{minute % 60:02}")
        speaker = user if turn["speaker"] == "USER" else shown
        if speaker == shown and rng.random() < 0.3:
            shown = system
        lines.append(f"{stamp.format(times[-1])}{speaker}: {turn['utterance']}")
        minute += rng.randint(0, 4)
    if stamp:
        fields.append(Stated("started|begin|first_message_at|opened", times[0], notes="time of the first message"))
        fields.append(Stated("ended|end|last_message_at|closed", times[-1], notes="time of the last message"))
    return rng.choice(("\n", "\n", "\n\n")).join(lines), fields


def _stated(
    key: str,
    values: list[str],
    known: _Known,
    place: tuple[str, str],
    exact: dict[str, str],
    document: str,
    said: bool = False,
) -> Iterator[Stated]:
    """A slot as one field or two: as said, and in its normal form."""
    words = key.replace("_", " ")
    notes = f"{words} that is named|{words}" if said else f"{words} that the customer wants in the end|{words}|"
    value = next((each for each in values if each in document), values[0])
    if value == "dontcare":
        return
    if value in ("True", "False"):
        yield Stated(f"{key}|is_{key}" if "_" not in key else key, value == "True", "flag", notes)
    elif place not in known.copied and value.isdigit():
        yield Stated(f"{key}|{key}_count", int(value), "number", notes)
    elif place not in known.copied and 1 < len(known.classes[place]) < 12:
        yield Stated(key, value, "enum", notes, tuple(sorted(known.classes[place])))
    elif value in document:
        normal = exact.get(value, value)
        if normal.isdigit() and len(normal) < 5:
            yield Stated(f"{key}|{key}_count", int(normal), "number", notes)
            return
        yield Stated(key, value, "text", f"{words}, as said|{words}|{words} in the customer's words")
        if _CLOCK.fullmatch(normal):
            yield Stated(f"{key}_24h|{key}_hhmm", normal, "text", f"{words} on the 24-hour clock, HH:MM")


def _silent(slot: str, known: _Known, place: tuple[str, str]) -> Stated:
    """A slot that nothing was said of."""
    classes = known.classes[place]
    words = slot.replace("_", " ")
    if classes and classes <= {"True", "False"}:
        return Stated(slot, None, "flag", f"{words}; null if it is not spoken of")
    if all(each.isdigit() for each in classes):
        return Stated(slot, None, "number", f"{words}; null if it is not spoken of")
    if place not in known.copied and 1 < len(classes) < 12:
        return Stated(slot, None, "enum", f"{words}; null if it is not spoken of", tuple(sorted(classes)))
    return Stated(slot, None, "text", f"{words}; null if it is not spoken of|{words}")


def _service(name: str) -> str:
    return name.partition("_")[0].lower().removesuffix("s")


def _words(name: str) -> str:
    return _CAMEL.sub(" ", name).lower()


def _some(classes: set[str], right: str, rng: random.Random) -> tuple[str, ...]:
    others = sorted(classes - {right})
    return tuple(sorted([right, *rng.sample(others, min(len(others), rng.randint(1, 7)))]))
