"""A client that sends rubbish without end does not fill the log."""

from intaglio.engine.host.ignored_messages import INTERVAL_S, IgnoredMessages


def test_a_flood_of_unreadable_messages_is_counted_and_not_logged_one_by_one() -> None:
    lines: list[str] = []
    now = 100.0
    ignored = IgnoredMessages(lines.append, lambda: now)
    for _ in range(50_000):
        ignored.add("no MessagePack")
    assert lines == ["ignored a message that is not a command: no MessagePack\n"]
    now += INTERVAL_S
    ignored.add("no object")
    assert len(lines) == 2
    assert "no object" in lines[1]
    assert "49999 more" in lines[1]


def test_single_unreadable_messages_are_all_reported() -> None:
    lines: list[str] = []
    now = 0.0
    ignored = IgnoredMessages(lines.append, lambda: now)
    for _ in range(3):
        ignored.add("no object")
        now += INTERVAL_S
    assert len(lines) == 3
    assert not any("more" in line for line in lines)
