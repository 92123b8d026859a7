"""Offline extraction without a server: a document and a type in, an object of that type out.

Runs the included small model on the CPU, without a network.
"""

import datetime

from intaglio import extract
from pydantic import BaseModel, Field

TEXT = """
CORNER & CRUMB BAKERY
27 Mill Lane, Galway

Date: 07 Nov 2026          Receipt no: 50817

  1 x Sourdough loaf             4.20
  3 x Cinnamon bun               6.30

  TOTAL                     EUR 10.50
"""


class Item(BaseModel):
    name: str = Field(description="Name of the article")
    quantity: int = Field(description="How many")
    price: float = Field(description="Price of the line")


class Receipt(BaseModel):
    merchant: str = Field(description="Name of the shop")
    date: datetime.date = Field(description="Date of the purchase")
    items: list[Item] = Field(description="What was bought, in the order printed")
    total: float = Field(description="Amount paid")


result = extract(Receipt, TEXT)
receipt = result.data

print(f"{receipt.merchant}, {receipt.date:%d %B %Y}: {receipt.total:.2f}")
for item in receipt.items:
    print(f"  {item.quantity} x {item.name}, {item.price:.2f}")
print(f"valid: {result.valid}, {result.usage.output_tokens} tokens")
