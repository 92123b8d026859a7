"""Error handling: where an error occurred, why, how to fix it, and whether a retry may help.

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

    # A text that does not fit the context is an error, not a partial answer.
    try:
        client.extract("invoice", "one line of a very long invoice\n" * 20_000)
    except TooLong as error:
        print(f"too long: {error.hint}")

    # An unknown catalogue name gets suggestions.
    try:
        client.extract("invoise", "text")
    except APIStatusError as error:
        print(f"{error.status} {error.code}: {error.hint}")

# Connection errors, 429 and 503 are retried automatically; the program handles the rest.
with Client("http://127.0.0.1:9", max_retries=0) as unreachable:
    try:
        unreachable.extract("invoice", "text")
    except ConnectionFailed as error:
        print(f"retryable: {error.retryable}; {error.message.split(':')[0]}")
