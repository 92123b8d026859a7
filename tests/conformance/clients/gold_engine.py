"""A scripted engine that answers by a rule for the prompt, in the form that the request's constraint requires.

A rule has a text that the prompt contains and the answer for it; the last rule in the list that applies and that the
constraint lets through is taken. Without one, the answer is the shortest that the constraint lets through, or a
greeting. Tokens are bytes, several to a step. Log-probabilities are made up and equal for equal tokens.
"""

from collections.abc import Iterator
from functools import cache

import msgspec
from intaglio.engine.api import Launch
from intaglio.engine.errors import InvalidRequest
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.process import main
from intaglio.engine.types import Delta, Finish, Request, TokenLogprob, Usage
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    Violation,
    Vocabulary,
)

from tests.support.modelless_engine import ModellessEngine, assembled, engine_info, launched

END = 257
STEP = 16
ROOM = 1 << 17
VOCABULARY = Vocabulary((*(bytes([byte]) for byte in range(256)), None, None, None), (END,), 300)
GREETING = "Hello! How can I help you today?"


class Rule(msgspec.Struct, frozen=True):
    """The answer to prompts that contain `when`."""

    when: str
    answer: str


class Gold(msgspec.Struct, frozen=True):
    """The name of the model and its rules."""

    model: str
    rules: list[Rule] = []


@cache
def compiled(constraint: Constraint) -> CompiledGrammar:
    return Compiler(VOCABULARY, tuple).compile(constraint)


def fits(constraint: Constraint, answer: bytes) -> bool:
    """Whether a constraint lets an answer through."""
    matcher = compiled(constraint).matcher()
    try:
        for token in (*answer, END):
            matcher.accept(token)
    except Violation:
        return False
    return True


def answer_of(rules: list[Rule], request: Request) -> bytes:
    """The whole answer to a request."""
    prompt = bytes(token for token in request.prompt if token < 256).decode(errors="replace")
    answers = [rule.answer.encode() for rule in reversed(rules) if rule.when in prompt]
    if request.constraint is None:
        return answers[0] if answers else GREETING.encode()
    found = next((one for one in answers if fits(request.constraint, one)), None)
    if found is None:
        way = compiled(request.constraint).matcher().closing() or ()
        found = bytes(token for token in way if token < 256)
    return found


class Running:
    """A request and what has been said of its answer."""

    def __init__(self, request: Request, answer: bytes) -> None:
        limit = request.sampling.max_tokens
        self.request = request
        self.tokens = answer[:limit]
        self.finish = Finish.STOP if len(answer) <= limit else Finish.LENGTH
        self.said = 0


class GoldEngine(ModellessEngine[Running]):
    """Answers each request by the rules."""

    def __init__(self, rules: list[Rule]) -> None:
        super().__init__(ROOM // 16)
        self._rules = rules

    def submit(self, request: Request) -> None:
        running = Running(request, answer_of(self._rules, request))
        if request.id in self._open:
            raise InvalidRequest(f"the id {request.id!r} is in use")
        self._accept(request.id, running)

    def step(self) -> list[Delta]:
        deltas = list(self._deltas(*self._begin_step()))
        self._end_step(deltas)
        return deltas

    def _deltas(self, batch: list[Running], aborted: set[str]) -> Iterator[Delta]:
        for one in batch:
            request = one.request
            tokens = tuple(one.tokens[one.said : one.said + STEP])
            one.said += len(tokens)
            finish = one.finish if one.said == len(one.tokens) else None
            if request.id in aborted:
                finish, tokens = Finish.ABORT, ()
            usage = Usage(len(request.prompt), one.said) if finish else None
            scores = () if request.sampling.logprobs is None else tuple(map(_scored, tokens))
            yield Delta(
                request_id=request.id, tokens=tokens, logprobs=scores, finish=finish, usage=usage
            )


def _scored(token: int) -> TokenLogprob:
    return TokenLogprob(token, -0.25, ((token, -0.25), ((token + 1) % 256, -1.5)))


def build(configuration: bytes) -> Assembly:
    gold = msgspec.json.decode(configuration, type=Gold)
    info = engine_info(model=gold.model, context_length=ROOM, blocks=ROOM // 16)
    return assembled(GoldEngine(gold.rules), info)


def launch(gold: Gold) -> Launch:
    """Start this engine in place of the real one."""
    return launched(run, msgspec.json.encode(gold))


def run() -> None:
    """The process of the engine."""
    raise SystemExit(main(build))
