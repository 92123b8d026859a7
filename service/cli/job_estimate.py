"""The answer of `intaglio job run --dry-run`: what a job would take.

Does: print an estimate for people or programs. Does not: make one (`jobs.estimate`).
"""

import time
from typing import TYPE_CHECKING

from intaglio.schemas.jobs import Prices

from .cli_errors import Exit
from .console import results, write_json

if TYPE_CHECKING:
    from ..jobs.estimate import Estimate


def show_estimate(found: "Estimate", prices: Prices | None, *, as_json: bool) -> Exit:
    """Print the rows, tokens, time and cost of a job; fail if no row is a document."""
    prompt, output = found.scaled(found.prompt_tokens), found.scaled(found.output_tokens)
    seconds, cost = found.scaled(found.seconds), prices and prices.of(prompt, output)
    if as_json:
        write_json(
            {
                "rows": found.rows,
                "dead": found.dead,
                "characters": found.characters,
                "prompt_tokens": round(prompt),
                "output_tokens": round(output),
                "seconds": round(seconds, 1),
                "cost": cost,
                "tried": found.tried,
                "failed": list(found.failed),
            },
            raw=True,
        )
        return Exit.OK if found.rows > found.dead else Exit.FAILED
    out = results()
    out.print(f"{found.rows} rows, {found.dead} of them not documents; nothing was kept")
    for row in found.refused:
        assert row.failure is not None
        out.print(f"  {row.failure.pointer}: {row.failure.reason}")
    for reason in found.failed:
        out.print(f"  a row failed: {reason}")
    span = time.strftime("%H:%M:%S", time.gmtime(seconds))
    price = "" if cost is None else f", cost {cost:,.6f}"
    out.print(
        f"about {prompt:,.0f} tokens in, {output:,.0f} out, {span} at most{price}, "
        f"by {found.tried} rows"
    )
    return Exit.OK if found.rows > found.dead else Exit.FAILED
