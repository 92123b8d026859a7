"""Sampling: several answers to one question, all valid, each repeatable by its seed.

The default is greedy: the same input gives the same output. Runs offline.
"""

from collections import Counter
from enum import StrEnum

from intaglio import LLM
from pydantic import BaseModel

TEXT = "Ticket 4471 has been closed by Ines."


class Status(StrEnum):
    OPEN = "open"
    IN_PROGRESS = "in progress"
    CLOSED = "closed"


class Ticket(BaseModel):
    status: Status


with LLM() as llm:
    greedy = llm.extract(Ticket, TEXT).data
    votes = Counter(
        llm.extract(Ticket, TEXT, temperature=1.0, top_p=0.95, seed=seed).data.status
        for seed in range(8)
    )
    again = llm.extract(Ticket, TEXT, temperature=1.0, top_p=0.95, seed=3).data
    assert again == llm.extract(Ticket, TEXT, temperature=1.0, top_p=0.95, seed=3).data

print(f"greedy: {greedy.status}")
print("sampled:", ", ".join(f"{count} x {status}" for status, count in votes.most_common()))
