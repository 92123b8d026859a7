"""Notices that programs write: mail that was not delivered, versions that have a fault."""

from __future__ import annotations

from ..draw import Draw
from ..entities import domain_name, email_of, person_name
from ..real.records import Record, Stated, Table
from ..wording import digits, title_words, words

_REASONS = {
    "mailbox_full": ("mailbox full|over quota|Quota exceeded (mailbox for user is full)|The recipient's mailbox is full and can't accept messages now", "5.2.2|4.2.2", "552|452"),
    "user_unknown": ("User unknown|No such user here|Recipient refused: no entry in the table of mailboxes|mailbox unavailable|The email account that you tried to reach does not exist|unrouteable address|no mailbox here by that name", "5.1.1|5.1.10", "550|554"),
    "host_unknown": ("Host or domain name not found. Name service error|Host unknown|Domain does not exist|DNS lookup failed: NXDOMAIN", "5.1.2|5.4.4", "550|512"),
    "spam_detected": ("Message rejected as spam|content rejected, looks like unsolicited mail|Your message scored too high in our spam filter|Spam message refused", "5.7.1|5.7.0", "554|550"),
    "message_too_big": ("message size exceeds fixed maximum|Message too large|message file too big|exceeds the size limit of this server", "5.3.4|5.2.3", "552|554"),
    "expired": ("delivery time expired|Message expired, could not be delivered in 5 days|retry timeout exceeded|Too old, giving up", "4.4.7|5.4.7", "421|450"),
    "blocked": ("Client host blocked using a blacklist|Your IP address is listed|Access denied, bad reputation of the sending host|refused by policy: dynamic address", "5.7.1|5.7.26", "554|553"),
    "relaying_denied": ("Relaying denied|we do not relay|Relay access denied|not a local domain, no relaying", "5.7.1|5.7.4", "550|554"),
    "network_error": ("Connection timed out|Connection refused|Network is unreachable|lost connection with the remote server|loops back to myself", "4.4.1|5.4.6", "421|451"),
    "account_disabled": ("Mailbox disabled, not accepting messages|This account has been suspended|User account is deactivated|account is not active", "5.2.1|5.2.0", "550|553"),
    "virus_detected": ("The message contains a virus|infected attachment found|Eicar signature found and rejected", "5.7.1|5.6.0", "554|550"),
    "sender_rejected": ("Sender address rejected: not allowed|sender denied|Domain of sender address does not resolve", "5.1.8|5.1.7", "553|501"),
    "moved": ("The user has moved, please try the new address|Recipient no longer here; mail is not forwarded", "5.1.6", "551"),
    "rate_limited": ("Too many connections, slow down|rate limit exceeded, try again later|greylisted for too many messages", "4.7.0|4.7.1", "421|450"),
}  # fmt: skip


def failure(draw: Draw, pieces: list[str]) -> Record:
    """A mail system's report that a message could not be delivered."""
    rng = draw.rng
    reason = rng.choice(list(_REASONS))
    said, codes, replies = (draw.pick(part) for part in _REASONS[reason])
    has_code, has_reply = draw.chance(0.75), draw.chance(0.75)
    host, sender = domain_name(draw), email_of(draw, person_name(draw))
    to = email_of(draw, person_name(draw), host)
    reply = " ".join(part for part in (replies if has_reply else "", codes if has_code else "", said) if part)
    line = draw.pick(
        "<{to}>: host {mx}[{ip}] said: {reply}|{to}\n    {reply}|{to}: {reply}|<{to}>\n   (reason: {reply})|... while talking to {mx}:\n>>> RCPT To:<{to}>\n<<< {reply}|Could not deliver to <{to}>.\nRemote server replied: {reply}"
    )
    ip = ".".join(str(rng.randint(1, 254)) for _ in range(4))
    for name, value in (("to", to), ("mx", f"mx{rng.randint(1, 9)}.{host}"), ("ip", ip), ("reply", reply)):
        line = line.replace(f"{{{name}}}", value)
    subject = draw.pick(
        "Undelivered Mail Returned to Sender|Delivery Status Notification (Failure)|failure notice|Mail delivery failed|Returned mail: see transcript for details|Undeliverable: {title}"
    ).replace("{title}", title_words(draw, 1, 3))
    intro = draw.pick(
        "This is the mail system at host {}.\n\nYour message did not reach all\nof its recipients.|One of your messages was not delivered.|Delivery to the following recipient failed permanently:|The following address had permanent fatal errors:|Hi. This is the delivery program at {}."
    ).replace("{}", domain_name(draw))
    head = [
        f"From: {draw.pick('MAILER-DAEMON|Mail Delivery Subsystem <mailer-daemon|postmaster|Mail Delivery System <MAILER-DAEMON')}@{domain_name(draw)}",
        f"To: {sender}",
        f"Subject: {subject}",
    ]
    report = [f"Reporting-MTA: dns; {domain_name(draw)}", f"Final-Recipient: rfc822; {to}", "Action: failed"]
    if has_code and draw.chance(0.8):
        report.append(f"Status: {codes}")
    if draw.chance(0.4):
        report.append(f"Diagnostic-Code: smtp; {reply}")
    mail = [
        f"From: {sender}",
        f"To: {to}",
        f"Subject: {title_words(draw, 1, 4)}",
        f"Message-ID: <{digits(draw, '********')}@{domain_name(draw)}>",
    ]
    text = "\n\n".join(
        (
            "\n".join(head),
            intro,
            line,
            *(["\n".join(report)] if draw.chance(0.7) else []),
            *(["\n".join(mail)] if draw.chance(0.4) else []),
        )
    )
    options = tuple(name for name in sorted(_REASONS) if name == reason or draw.chance(0.9))
    return Record("failure", text, (
        Stated("recipient|failed_address|undelivered_to|address", to, "email", "address that the mail could not be delivered to"),
        Stated("status_code|enhanced_code|dsn_code", codes if codes in text else None, notes="such as 5.1.1; null if there is none"),
        Stated("smtp_code|reply_code|code", int(replies) if has_reply else None, "number", "such as 550; null if there is none"),
        Stated("reason|cause|failure_kind", reason, "enum", "why it failed", options),
        Stated("sender|original_sender|sent_by", sender, "email", "who had sent the mail"),
        Stated("retry|temporary|is_temporary", None, "flag"),
    ))  # fmt: skip


def _version(draw: Draw, parts: int) -> str:
    return ".".join(str(draw.rng.choice((0, 1, 2, 3, draw.rng.randint(0, 30)))) for _ in range(parts))


def versions(draw: Draw, pieces: list[str]) -> Record:
    """A note about a fault in a package: which versions have it and which end it."""
    rng = draw.rng
    name = draw.rng.choice(
        (title_words(draw, 1, 2), words(draw, 1, 1).lower(), words(draw, 2, 2).lower().replace(" ", "-"))
    )
    ranges: list[tuple[str | None, str]] = []
    said: list[str] = []
    for index in range(rng.choice((1, 1, 1, 2, 2, 3))):
        major, fixed = f"{index + rng.randint(1, 3)}.{rng.randint(0, 9)}", str(rng.randint(1, 30))
        until = f"{major}.{fixed}"
        start = rng.choice((None, f"{major}.x", f"{major}.0")) if index == 0 else f"{major}.x"
        if start is None:
            said.append(draw.pick("before {}|prior to {}|earlier than {}|all versions before {}").replace("{}", until))
        elif start.endswith("x"):
            said.append(f"{start} {draw.pick('before|prior to')} {until}")
        else:
            said.append(
                draw.pick("from {a} before {b}|starting in {a} and prior to {b}|{a} up to but not including {b}")
                .replace("{a}", start)
                .replace("{b}", until)
            )
        ranges.append((start.removesuffix(".x") if start else None, until))
    spoken = ", ".join(said[:-1]) + (draw.pick(", and | and ") if len(said) > 1 else "") + said[-1]
    fault = draw.pick(
        "Cross-site scripting|Directory traversal|SQL injection|A buffer overflow|An integer overflow|Improper input validation|A race condition|Uncontrolled recursion"
    )
    effect = f"{draw.pick('allows|might allow|lets')} {draw.pick('attackers|local users|an attacker|a remote user')} to {draw.pick('read arbitrary files|execute code|make the service stop|exhaust the memory|bypass checks|inject markup')} via {words(draw, 1, 3)}"
    text = draw.pick(
        "{f} vulnerability in {n} {s} {e}.|{n} {s} {e}. {f} is the cause.|In {n} {s}, {f} {e}.|An issue was found in {n} {s}: {f} {e}.|{f} in {w}.py in {n} {s} {e}."
    )
    for sign, value in (("f", fault), ("n", name), ("s", spoken), ("e", effect), ("w", words(draw, 1, 1))):
        text = text.replace(f"{{{sign}}}", value)
    if draw.chance(0.3):
        text += f" {draw.pick('Reported by|Found by|Thanks to')} {person_name(draw)}."
    table = Table(
        "affected|ranges|affected_versions|vulnerable",
        (("from|introduced|since|first", "text"), ("fixed_in|fixed|until|before", "text")),
        tuple(ranges),
        "ranges of versions in the order of the text|from is null where there is no lower bound",
    )
    return Record(
        "versions",
        text,
        (
            Stated("package|product|name|software|component", name, notes="as written"),
            Stated("severity|score", None),
            Stated("cve|identifier|advisory_id", None),
        ),
        (table,),
    )
