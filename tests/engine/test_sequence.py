from itertools import product

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.plan import PLACEHOLDER
from intaglio.engine.sequence import MOVES, Resolution, SeqState, Sequence
from intaglio.engine.types import Request, SamplingParams

from tests.support.scripted import Script


def sequence(*, constrained: bool = False, deadline: float | None = None) -> Sequence:
    request = Request(
        id="a",
        prompt=(2, 3, 4),
        sampling=SamplingParams(max_tokens=5),
        constraint=Script(1, 2).constraint if constrained else None,
        deadline=deadline,
    )
    return Sequence(1, request, (0.0, 1), now=10.0)


ACTS = {
    SeqState.WAITING: lambda seq: (
        seq.wait() if seq.state in (SeqState.WAIT_GRAMMAR, SeqState.WAIT_KV) else seq.preempt()
    ),
    SeqState.RUNNING: lambda seq: seq.admit(0.0, 0),
    SeqState.FINISHED: lambda seq: seq.finish(),
}


@pytest.mark.parametrize(("start", "to"), list(product(SeqState, ACTS)))
def test_only_legal_moves_are_made(start: SeqState, to: SeqState) -> None:
    seq = sequence()
    seq.state = start
    if to in MOVES[start]:
        ACTS[to](seq)
        assert seq.state is to
    else:
        with pytest.raises(InternalError, match="cannot go from"):
            ACTS[to](seq)
        assert seq.state is start


def test_a_constraint_is_waited_for() -> None:
    assert sequence(constrained=True).state is SeqState.WAIT_GRAMMAR
    assert sequence().state is SeqState.WAITING


def test_tokens_that_the_grammar_forces_are_no_cached_prompt_tokens() -> None:
    seq = sequence(constrained=True)
    seq.wait()
    for forced in (7, 8):
        seq.append(forced)
    seq.admit(11.0, 4)
    assert seq.usage(12.0).cached_tokens == 3


def test_pending_is_known_less_computed() -> None:
    seq = sequence()
    seq.admit(11.0, 0)
    assert (seq.known, seq.pending) == (3, 3)
    seq.compute(2)
    assert (seq.known, seq.pending) == (3, 1)
    seq.compute(1)
    assert (seq.in_flight.samples, seq.pending) == (1, 1)  # the sample in flight is computed next
    assert seq.upcoming(1) == ((PLACEHOLDER,), 1)
    assert seq.resolve(3) is Resolution.ACCEPTED
    seq.record.token_sampled(12.0)
    seq.append(9)
    seq.append(8)
    seq.record.force(1)
    assert (seq.known, seq.pending, seq.output_tokens, seq.record.forced) == (5, 2, 2, 1)
    with pytest.raises(InternalError, match="3 tokens computed, 2 pending"):
        seq.compute(3)


def test_preemption_keeps_what_is_known_and_gives_up_what_is_computed() -> None:
    seq = sequence()
    seq.admit(11.0, 0)
    seq.compute(3)
    seq.record.token_sampled(12.0)
    seq.append(9)
    seq.preempt()
    assert seq.tokens == [2, 3, 4, 9]
    assert (seq.computed, seq.pending, seq.record.preemptions) == (0, 4, 1)


def test_a_token_that_waits_is_sampled_again_and_nothing_else_after_a_preemption() -> None:
    running, preempted = sequence(), sequence()
    for seq in (running, preempted):
        seq.admit(11.0, 0)
        seq.compute(3)
    preempted.preempt()
    for seq, again in ((running, 1), (preempted, 3)):
        assert seq.resolve(3) is Resolution.ACCEPTED
        seq.sample_again()
        seq.check()
        assert seq.pending == again
        assert seq.upcoming(again)[1] == 1


def test_a_pick_is_stale_once_its_position_became_known() -> None:
    seq = sequence()
    seq.admit(11.0, 0)
    seq.compute(3)
    seq.compute(1)  # one plan ahead: the sample of the first is computed unread
    assert (seq.computed, seq.in_flight.samples, seq.pending) == (4, 2, 1)
    assert seq.resolve(3) is Resolution.ACCEPTED
    seq.append(9)
    seq.append(8)
    assert (seq.known, seq.pending, seq.upcoming(1)) == (5, 1, ((8,), 1))
    assert seq.resolve(4) is Resolution.STALE
    seq.check()
    with pytest.raises(InternalError, match="no plan asked for"):
        seq.resolve(4)


def test_picks_that_come_alone_are_accepted_one_after_the_other() -> None:
    seq = sequence()
    seq.admit(11.0, 0)
    seq.compute(3)
    for position in (3, 4, 5):
        seq.compute(1)
        seq.check()
        assert seq.resolve(position) is Resolution.ACCEPTED
        seq.append(9)
    with pytest.raises(InternalError, match="no plan asked for"):
        seq.resolve(7)


def test_nothing_is_computed_while_the_last_pick_is_in_flight() -> None:
    seq = sequence()
    seq.admit(11.0, 0)
    seq.compute(3)
    for _ in range(4):
        seq.compute(1)
    assert (seq.computed, seq.pending) == (seq.most_computed, 0)
    seq.check()
    with pytest.raises(InternalError, match="1 tokens computed, 0 pending"):
        seq.compute(1)


def test_the_last_token_is_never_computed() -> None:
    assert sequence().most_computed == 3 + 5 - 1


def test_usage_tells_where_the_time_went() -> None:
    seq = sequence(deadline=5.0)
    assert (seq.usage(12.0).queue_s, seq.usage(12.0).prefill_s) == (2.0, 0.0)
    seq.admit(13.0, 0)
    assert seq.usage(14.0).prefill_s == 1.0
    seq.preempt()
    seq.admit(15.0, 0)  # the first admission counts
    seq.record.token_sampled(17.0)
    seq.record.token_sampled(18.0)
    usage = seq.usage(20.0)
    assert (usage.queue_s, usage.prefill_s, usage.decode_s) == (3.0, 4.0, 3.0)
    assert (usage.prompt_tokens, usage.preemptions) == (3, 1)
