"""A plain interpreter of rules, byte by byte: `grammar.machine.rule` without tables or caches.

Does: say whether a whole text ends a rule, and with which outcome. Slow, and shares no code with the machine.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from intaglio.grammar.automata import Dfa
from intaglio.grammar.machine.rule import Call, End, Goto, Rule, Target


@dataclass
class Frame:
    """A rule or leaf being read. `call` is what the frame below called it with, `begun` where its text starts."""

    callee: Rule | Dfa
    state: Hashable
    call: Call | None
    begun: int
    seen: set[Hashable] = field(default_factory=set)


class Walker:
    """Follows one text."""

    def __init__(self, root: Rule) -> None:
        self.text = b""
        self.outcome: int | None = None
        self.frames = [Frame(root, root.start, None, 0)]

    def feed(self, text: bytes) -> bool:
        """Read on; False as soon as a byte cannot be read."""
        return all(self._step(byte) for byte in text)

    def finish(self) -> int | None:
        """The outcome if the text may end here."""
        while self.frames:
            top = self.frames[-1]
            if isinstance(top.callee, Dfa):
                assert isinstance(top.state, int)
                outcome = int(top.callee.outcome[top.state])
            else:
                ending = top.callee.expand(top.state).outcome
                outcome = -1 if ending is None else ending
            if outcome < 0 or not self.leave(outcome):
                return None
        return self.outcome

    def _step(self, byte: int) -> bool:
        while self.frames:
            top = self.frames[-1]
            if isinstance(top.callee, Dfa):
                assert isinstance(top.state, int)
                following = top.callee.step(top.state, byte)
                if following >= 0:
                    top.state = following
                    self.text += bytes([byte])
                    return True
                outcome = int(top.callee.outcome[top.state])
                if outcome < 0 or not self.leave(outcome):
                    return False
                continue
            expansion = top.callee.expand(top.state)
            target = next((t for taken, t in expansion.arcs if byte in taken), None)
            if target is not None:
                self.text += bytes([byte])
                return self._go(target)
            if expansion.call is not None:
                callee = _live(expansion.call)
                start = 0 if isinstance(callee, Dfa) else callee.start
                self.frames.append(Frame(callee, start, expansion.call, len(self.text)))
            elif expansion.outcome is None or not self.leave(expansion.outcome):
                return False
        return False

    def _go(self, target: Target | None) -> bool:
        if target is None:
            return False
        if isinstance(target, Goto):
            self.frames[-1].state = target.key
            return True
        assert isinstance(target, End)
        return self.leave(target.outcome)

    def leave(self, outcome: int) -> bool:
        """End the innermost rule and go on in its caller."""
        done = self.frames.pop()
        if not self.frames:
            self.outcome = outcome
            return True
        caller, call = self.frames[-1], done.call
        assert call is not None
        assert not isinstance(caller.callee, Dfa)
        text = self.text[done.begun :]
        if call.judge is not None:
            outcome = call.judge(outcome, text)
            if outcome < 0:
                return False
        twin = False
        if call.same is not None:
            key = call.same(text)
            twin = key in caller.seen
            caller.seen.add(key)
        return self._go(caller.callee.resume(call.back, outcome, twin))


def _live(call: Call) -> Rule | Dfa:
    if call.live is None:
        return call.callee
    assert isinstance(call.callee, Dfa)
    return call.callee.restrict(call.live)


def accepts(root: Rule, text: bytes) -> bool:
    """Whether the whole text is one of the rule's."""
    walker = Walker(root)
    return walker.feed(text) and walker.finish() is not None
