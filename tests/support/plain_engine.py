"""What an engine would say if there were only one request, all memory, and no hurry.

Does: give the tokens and the end of a request by the shortest way there is. Does not: schedule, batch, cache, mask
rows, or jump over forced tokens; it shares with the engine nothing but the model's rule.
"""

from dataclasses import dataclass, replace

from intaglio.engine.types import Finish, Request

from .scripted import END_TOKENS, FAULTS_IF_ASKED, Script, cell, next_token


@dataclass(frozen=True)
class Outcome:
    """The tokens a caller sees, and how they end; `code` is that of the failure, if it is one."""

    tokens: tuple[int, ...]
    finish: Finish
    code: str = ""


def outcomes(request: Request) -> frozenset[Outcome]:
    """What an engine may say: mostly one thing, two where it need not notice that a matcher is faulty.

    Some matchers fail when they are asked which tokens are forced. An engine that jumps over forced tokens asks at the
    end of a jump only after the next token, and not at all if that is an end token.
    """
    plain = run(request)
    script = None if request.constraint is None else Script.of(request.constraint)
    if script is None or script.fault not in FAULTS_IF_ASKED:
        return frozenset({plain})
    healthy = run(replace(request, constraint=replace(script, fault="").constraint))
    ends_after_fault = healthy.finish is Finish.STOP and len(healthy.tokens) == script.at > 0
    if ends_after_fault and len(script.allowed(healthy.tokens[:-1])) == 1:
        return frozenset({plain, healthy})
    return frozenset({plain})


def run(request: Request) -> Outcome:
    """Generate token by token, each from the whole prefix."""
    sampling = request.sampling
    script = None if request.constraint is None else Script.of(request.constraint)
    if script is not None:
        if script.fault == "compile":
            return Outcome((), Finish.ERROR, "invalid_constraint")
        if script.tells_least and len(script.closing(())) > sampling.max_tokens:
            return Outcome((), Finish.ERROR, "budget_too_small")
    output: list[int] = []
    while True:
        if script is not None and script.fault and len(output) >= script.at:
            return Outcome(tuple(output), Finish.ERROR, "internal_error")
        cells = [cell(place, token) for place, token in enumerate([*request.prompt, *output])]
        token = next_token(cells, None if script is None else script.allowed(output))
        if script is not None and script.tells_least and token not in END_TOKENS:
            left = sampling.max_tokens - len(output)
            if 1 + len(script.closing([*output, token])) > left:
                return _closed(request, output, script.closing(output))
        if token in sampling.stop_token_ids or (
            token in END_TOKENS and not (sampling.ignore_eos and script is None)
        ):
            return Outcome(tuple(output), Finish.STOP)
        output.append(token)
        if len(output) == sampling.max_tokens:
            return Outcome(tuple(output), Finish.LENGTH)


def _closed(request: Request, output: list[int], closing: tuple[int, ...]) -> Outcome:
    """The end of an output that is completed by a short way, of which the last token is an end token."""
    for index, token in enumerate(closing):
        if token in request.sampling.stop_token_ids:
            return Outcome((*output, *closing[:index]), Finish.STOP)
    return Outcome((*output, *closing[:-1]), Finish.STOP)
