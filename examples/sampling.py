"""Sampling: several answers to one question, each of them valid, each repeatable by its seed.

The default is greedy: the same input gives the same output. Offline.
"""

from collections import Counter
from enum import StrEnum

from intaglio import LLM
from pydantic import BaseModel, Field

TEXT = "The battery lasts two days, but the case already has a crack and the manual is missing."


class Kind(StrEnum):
    PRAISE = "praise"
    COMPLAINT = "complaint"
    QUESTION = "question"


class Review(BaseModel):
    kind: Kind = Field(description="What the customer's message is, on the whole")


with LLM() as llm:
    greedy = llm.extract(Review, TEXT).data
    votes = Counter(
        llm.extract(Review, TEXT, temperature=1.0, top_p=0.95, seed=seed).data.kind
        for seed in range(8)
    )
    again = llm.extract(Review, TEXT, temperature=1.0, top_p=0.95, seed=3).data
    assert again == llm.extract(Review, TEXT, temperature=1.0, top_p=0.95, seed=3).data

print(f"greedy: {greedy.kind}")
print("sampled:", ", ".join(f"{count} x {kind}" for kind, count in votes.most_common()))
