"""Conversations, requests, minutes and questions: each field is what the annotators marked, and stands in the text."""

import json
from typing import Any

from examples.train_embedded.real import conversations, meetings, questions, requests


def turn(speaker: str, said: str, **frame: Any) -> dict[str, Any]:
    return {
        "speaker": speaker,
        "utterance": said,
        "frames": [{"service": "Buses_1", "slots": [], "actions": [], **frame}],
    }


def state(**values: list[str]) -> dict[str, Any]:
    return {"active_intent": "FindBus", "slot_values": values}


def action(act: str, slot: str, said: str, normal: str) -> dict[str, Any]:
    return {"act": act, "slot": slot, "values": [said], "canonical_values": [normal]}


def test_the_last_wish_of_a_conversation_counts() -> None:
    turns = [
        turn(
            "USER",
            "A bus to Lyon for two, please.",
            state=state(to=["Lyon"], group_size=["2"]),
            slots=[{"slot": "to"}],
            actions=[action("INFORM", "to", "Lyon", "Lyon")],
        ),
        turn(
            "SYSTEM",
            "It leaves at half past six.",
            slots=[{"slot": "leaving"}],
            actions=[action("OFFER", "leaving", "half past six", "18:30")],
        ),
        turn(
            "USER",
            "Sorry, to Dijon.",
            state=state(to=["Dijon"], group_size=["2"]),
            slots=[{"slot": "to"}],
        ),
        turn("SYSTEM", "Your seats are booked.", actions=[action("NOTIFY_SUCCESS", "", "", "")]),
    ]
    (record,) = conversations.conversations("a", json.dumps([{"dialogue_id": "1", "turns": turns}]))
    stated = {each.keys.split("|")[0]: each.value for each in record.fields}
    assert stated["to"] == "Dijon"
    assert stated["group_size"] == 2
    assert (stated["leaving"], stated["leaving_24h"]) == ("half past six", "18:30")
    assert stated["completed"] is True
    assert "Sorry, to Dijon." in record.text


def test_a_request_has_its_class_among_others() -> None:
    rows = [[f"please tell me about subject {label}", label] for label in "abcdefghijklm"]
    found = list(requests.intents("x", json.dumps({"train": rows})))
    assert found
    for record in found:
        intent, message = record.fields
        assert message.value == record.text
        assert intent.value == record.text.split()[-1]
        assert intent.value in intent.options
        assert len(intent.options) > 2


def test_aspects_are_truths_and_times_are_normal() -> None:
    rows = [
        {
            "text": "cancel the table at 7 pm",
            "intents": ["cancel_close"],
            "slots": {"time": {"text": "7 pm", "value": {"hour": 19, "minute": 0}}},
        },
        *({"text": "hello", "intents": [each]} for each in ("greet", "why", "spa", "pets")),
    ]
    first, *_ = requests.aspects("x", json.dumps(rows))
    stated = {each.keys.split("|")[0]: each.value for each in first.fields}
    assert stated["is_cancel"] is True
    assert False in stated.values()
    assert (stated["time"], stated["time_24h"]) == ("7 pm", "19:00")


def test_minutes_name_those_present() -> None:
    text = """# Committee Meeting 2020-04-23

## Present

* Ada Lovelace @ada (chair)
* Bo Ek @bo (observer)

## Agenda

* Nothing
"""
    record = meetings.minutes("x", text)
    assert record is not None
    stated = {each.keys.split("|")[0]: each.value for each in record.fields}
    assert stated["date"] == "2020-04-23"
    assert stated["present"] == ["Ada Lovelace", "Bo Ek"]
    assert stated["issue"] is None
    assert record.tables[0].rows == (("Ada Lovelace", "ada", "chair"), ("Bo Ek", "bo", "observer"))
    assert meetings.minutes("x", text.replace("@bo ", "")) is None


def test_a_question_of_another_article_has_no_answer() -> None:
    def article(context: str, question: str, answer: str) -> dict[str, Any]:
        asked = {"question": question, "answers": [{"text": answer}]}
        return {"paragraphs": [{"context": context, "qas": [asked]}]}

    document = {
        "data": [
            article("The mill has 4 wheels.", "How many wheels does the mill have?", "4"),
            article("Rome is old.", "Which city counts as old?", "Rome"),
        ]
    }
    first, second = questions.paragraphs("x", json.dumps(document))
    assert [each.value for each in first.fields] == [4, None]
    assert [each.value for each in second.fields] == ["Rome", None]
    assert "wheels_mill" in first.fields[0].keys.split("|")
