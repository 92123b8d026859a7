"""A running service and a Pydantic model: `data` is an object of that model, also for the type checker.

Start a service first: `intaglio serve`. For an address other than http://localhost:8000, set INTAGLIO_BASE_URL.
"""

from typing import Literal

from intaglio import Client
from pydantic import BaseModel, Field

TEXT = """
Support request

Customer: Martin Okafor
Subject: Label printer shows an error
Priority: high
Order number: QF-553018
Error code: E-217

The printer prints half a label, then the red light comes on.
"""


class Ticket(BaseModel):
    """A customer's problem report."""

    customer: str = Field(description="Name of the person who reports the problem")
    subject: str = Field(description="The subject line")
    priority: Literal["low", "normal", "high", "urgent"] = Field(description="How urgent it is")
    order_number: str | None = Field(description="Number of the order, as written")
    error_code: str | None = Field(description="Error code shown to the customer, as written")


with Client() as client:
    client.wait_until_ready(timeout=60)
    ticket = client.extract(Ticket, TEXT).data

print(f"[{ticket.priority}] {ticket.subject}")
print(f"  by {ticket.customer}, order {ticket.order_number}, error {ticket.error_code}")
