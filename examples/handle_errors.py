"""Errors say where, why and what to do, and tell apart what you can mend from what will pass.

Needs a running service (`intaglio serve`).
"""

from intaglio import APIStatusError, Client, ConnectionFailed, SchemaRefused, TooLong

with Client() as client:
    # A schema that cannot be enforced in full is refused, never silently weakened.
    try:
        client.extract({"type": "string", "pattern": r"^(.)\1$"}, "aa")
    except SchemaRefused as error:
        for detail in error.details:
            print(f"refused at {detail.pointer}: {detail.reason}")

    # A text that does not fit is an error too, not half an answer.
    try:
        client.extract("invoice", "one line of a very long invoice\n" * 20_000)
    except TooLong as error:
        print(f"too long: {error.hint}")

    # A name that is not in the catalogue comes with names that are.
    try:
        client.extract("invoise", "text")
    except APIStatusError as error:
        print(f"{error.status} {error.code}: {error.hint}")

# Connection errors, 429 and 503 are tried again by themselves; what remains is yours to handle.
with Client("http://127.0.0.1:9", max_retries=0) as nobody:
    try:
        nobody.extract("invoice", "text")
    except ConnectionFailed as error:
        print(f"retryable: {error.retryable}; {error.message.split(':')[0]}")
