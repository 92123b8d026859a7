"""The formats of JSON Schema (2020-12, section 7.3) as languages of code points.

Does: give each format's automaton, and a further check for formats that no automaton describes exactly. Does not:
escape or quote (`strings`). Sources: RFC 3339 (dates, leap seconds included), 5321 and 6531 (mail; the length of the
local part is not limited), 1123 (hosts), 4291 (IPv6), 3986 and 3987 (URI, IRI), 4122 (UUID), 6901 (JSON Pointer), 6570
(templates).

Four further formats are times without an offset, which RFC 3339 does not have. Seconds are optional, so that an
extraction of "14:30" need not invent them. `date-time-local` and `time-local` (names of OpenAPI's registry) have no
offset and whole seconds; `iso-date-time` and `iso-time` (names of ajv-formats) may have an offset and fractions.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Final

import idna
import numpy as np

from ..automata import (
    CODE_POINTS,
    Dfa,
    canonical,
    complement,
    concatenation,
    difference,
    intersection,
    union,
)
from ..contract.errors import GrammarError
from ..regex import search, whole
from ..regex.parse import parse
from .strings import lengths

# RFC 3339 has a year 0; the calendars of common date libraries begin with year 1.
_DATE: Final = (
    r"(?:(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?!0000)(?:[02468][048]|[13579][26])00)-02-29)"
)
_OFFSET: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"
_PLAIN_TIME: Final = rf"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]{_OFFSET})"
_LOCAL_TIME: Final = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
_ISO_TIME: Final = rf"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{{1,9}})?)?(?:Z|[+-]{_OFFSET})?"

_CLOCK: Final = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_CLOCK_SYMBOLS: Final = "0123456789:.+-Z"
_DAYS: Final = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"

_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4: Final = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16: Final = r"[0-9A-Fa-f]{1,4}"
_LS32: Final = rf"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6: Final = (
    rf"(?:(?:{_H16}:){{6}}{_LS32}|::(?:{_H16}:){{5}}{_LS32}|(?:{_H16})?::(?:{_H16}:){{4}}{_LS32}"
    rf"|(?:(?:{_H16}:){{0,1}}{_H16})?::(?:{_H16}:){{3}}{_LS32}|(?:(?:{_H16}:){{0,2}}{_H16})?::(?:{_H16}:){{2}}{_LS32}"
    rf"|(?:(?:{_H16}:){{0,3}}{_H16})?::{_H16}:{_LS32}|(?:(?:{_H16}:){{0,4}}{_H16})?::{_LS32}"
    rf"|(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}|(?:(?:{_H16}:){{0,6}}{_H16})?::)"
)

_LABEL: Final = r"[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_HOST: Final = rf"{_LABEL}(?:\.{_LABEL})*"
_WIDE_LABEL: Final = (
    r"[0-9A-Za-z\u0080-\u{10FFFF}](?:[0-9A-Za-z\u0080-\u{10FFFF}-]*[0-9A-Za-z\u0080-\u{10FFFF}])?"
)
_LITERAL_HOST: Final = rf"\[(?:{_IPV4}|IPv6:{_IPV6})\]"

_UCS: Final = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    + "".join(rf"\u{{{plane:X}0000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 14))
    + r"\u{E1000}-\u{EFFFD}"
)
_PRIVATE: Final = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"
_PERCENT: Final = r"%[0-9A-Fa-f]{2}"


def _mail(wide: str, domain: str) -> str:
    atom = rf"[0-9A-Za-z!#$%&'*+\/=?^_`{{|}}~{wide}-]+"
    quoted = rf'"(?:[ !#-\[\]-~{wide}]|\\[ -~])*"'
    return rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{domain}|{_LITERAL_HOST})"


def _uri(wide: str, private: str, relative: bool) -> str:
    plain = rf"\-0-9A-Za-z._~!$&'()*+,;={wide}"
    segment = rf"(?:[{plain}:@]|{_PERCENT})"
    user = rf"(?:(?:[{plain}:]|{_PERCENT})*@)?"
    host = rf"(?:\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[0-9A-Za-z._~!$&'()*+,;=:-]+)\]|(?:[{plain}]|{_PERCENT})*)"
    authority = rf"\/\/{user}{host}(?::\d*)?(?:\/{segment}*)*"
    absolute = rf"\/(?:{segment}+(?:\/{segment}*)*)?"
    rootless = rf"{segment}+(?:\/{segment}*)*"
    no_scheme = rf"(?:[{plain}@]|{_PERCENT})+(?:\/{segment}*)*"
    tail = rf"(?:\?(?:[{plain}:@\/?{private}]|{_PERCENT})*)?(?:#(?:[{plain}:@\/?]|{_PERCENT})*)?"
    full = rf"[A-Za-z][0-9A-Za-z+.-]*:(?:{authority}|{absolute}|{rootless}|){tail}"
    return rf"(?:{full}|(?:{authority}|{absolute}|{no_scheme}|){tail})" if relative else full


def _template() -> str:
    literal = rf"(?:[!#$&'()*+,\-.\/0-;=?@A-Z\[\]_a-z~{_UCS}{_PRIVATE}]|{_PERCENT})"
    character = rf"(?:[0-9A-Za-z_]|{_PERCENT})"
    name = rf"{character}(?:\.?{character})*"
    variable = rf"{name}(?::[1-9]\d{{0,3}}|\*)?"
    return rf"(?:{literal}|\{{[+#.\/;?&=,!@|]?{variable}(?:,{variable})*\}})*"


def _leap_seconds() -> Dfa:
    """Times with a 60th second, which is legal right before midnight UTC: the local time determines the offset.

    Columns: the digits, then `:.+-` and Z. The states of the 1,440 offsets are built once and shared by all times.
    """
    rows: list[dict[int, int]] = [{}, {}]  # the start, the end

    def state(row: dict[int, int]) -> int:
        rows.append(row)
        return len(rows) - 1

    def before(text: str, target: int) -> int:
        for symbol in reversed(text):
            target = state({_CLOCK_SYMBOLS.index(symbol): target})
        return target

    offsets = [before(f"{o // 60:02}:{o % 60:02}", 1) for o in range(1440)]
    seconds = []
    for local in range(1440):
        ahead = (local - 1439) % 1440
        zone = {12: offsets[ahead], 13: offsets[-ahead % 1440]} | ({14: 1} if ahead == 0 else {})
        fraction = state(dict(zone))  # a copy, so that the digits added below stay out of `zone`
        rows[fraction] |= dict.fromkeys(range(10), fraction)
        point = state(dict.fromkeys(range(10), fraction))
        seconds.append(before(":60", state(zone | {11: point})))
    for hour in range(24):
        tens = [state({u: seconds[60 * hour + 10 * t + u] for u in range(10)}) for t in range(6)]
        minutes = state({10: state(dict(enumerate(tens)))})
        first = rows[0].setdefault(hour // 10, len(rows))
        if first == len(rows):
            state({})
        rows[first][hour % 10] = minutes
    table = np.full((len(rows), 15), -1, np.int32)
    for number, row in enumerate(rows):
        table[number, list(row)] = list(row.values())
    outcome = np.full(len(rows), -1, np.int32)
    outcome[1] = 0
    classes = np.full(128, -1, np.int32)
    classes[[ord(s) for s in _CLOCK_SYMBOLS]] = range(15)
    classes[ord("z")] = 14
    return canonical(CODE_POINTS, np.arange(128, dtype=np.int32), classes, table, outcome)


_POINTER: Final = r"(?:\/(?:[^~\/]|~[01])*)*"

_PATTERNS: Final[dict[str, Callable[[], str]]] = {
    "date": lambda: _DATE,
    "time": lambda: _PLAIN_TIME,
    "date-time": lambda: f"{_DATE}[Tt]",
    "date-time-local": lambda: f"{_DATE}T{_LOCAL_TIME}",
    "time-local": lambda: _LOCAL_TIME,
    "iso-date-time": lambda: f"{_DATE}T{_ISO_TIME}",
    "iso-time": lambda: _ISO_TIME,
    "duration": lambda: rf"P(?:{_DAYS}(?:{_CLOCK})?|{_CLOCK}|\d+W)",
    "email": lambda: _mail("", _HOST),
    "idn-email": lambda: _mail(r"\u0080-\u{10FFFF}", rf"{_WIDE_LABEL}(?:\.{_WIDE_LABEL})*"),
    "hostname": lambda: _HOST,
    "idn-hostname": lambda: r"[^]+",
    "ipv4": lambda: _IPV4,
    "ipv6": lambda: _IPV6,
    "uri": lambda: _uri("", "", relative=False),
    "uri-reference": lambda: _uri("", "", relative=True),
    "iri": lambda: _uri(_UCS, _PRIVATE, relative=False),
    "iri-reference": lambda: _uri(_UCS, _PRIVATE, relative=True),
    "uuid": lambda: r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "uri-template": _template,
    "json-pointer": lambda: _POINTER,
    "relative-json-pointer": lambda: rf"(?:0|[1-9]\d*)(?:#|{_POINTER})",
    "regex": lambda: r"[^]*",
}
KNOWN: Final = frozenset(_PATTERNS)
LOCAL_TIMES: Final = frozenset({"date-time-local", "time-local", "iso-date-time", "iso-time"})
NAMES: Final = KNOWN - LOCAL_TIMES  # formats of the JSON Schema specification


@cache
def language(name: str) -> Dfa:
    """The texts of a format in `KNOWN`, over code points, outcome 0; a superset if `check(name)` is not None."""
    chars = whole(_PATTERNS[name]())
    if name == "time":
        return union(chars, _leap_seconds())
    if name == "date-time":
        return concatenation([chars, language("time")])
    return intersection(chars, lengths(1, 253)) if name == "hostname" else chars


def check(name: str) -> Callable[[str], bool] | None:
    """The further check of texts of `language(name)`, or None if the language is exact."""
    return _CHECKS.get(name)


def holds(name: str, text: str) -> bool:
    """Whether `text` has the format."""
    further = check(name)
    return language(name).judge(map(ord, text)) >= 0 and (further is None or further(text))


def _host_labels(text: str) -> bool:
    """Whether each label with an `xn--` prefix is canonical IDNA (RFC 5891)."""
    labels = [label for label in text.lower().split(".") if label.startswith("xn--")]
    return all(_label(label) for label in labels)


def _label(label: str) -> bool:
    try:
        return idna.alabel(idna.ulabel(label)).decode() == label
    except (idna.IDNAError, UnicodeError):
        return False


def _idn_host(text: str) -> bool:
    """RFC 5890 to 5893; in a name with any right-to-left label every label must obey the Bidi rule."""
    labels = re.split("[.\u3002\uff0e\uff61]", text)
    try:
        idna.encode(text, strict=False)
        wide = [idna.ulabel(label) for label in labels]
        if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for label in wide for c in label):
            return all(idna.check_bidi(label, check_ltr=True) for label in wide)
    except (idna.IDNAError, UnicodeError):
        return False
    return labels[-1] != ""


def _pattern(text: str) -> bool:
    try:
        parse(text)
    except GrammarError as error:
        return error.code == "unsupported_constraint"
    return True


def _host() -> Dfa:
    """Host names without `xn--` labels."""
    return difference(language("hostname"), search(r"(?:^|\.)[Xx][Nn]--"))


def _wide_host() -> Dfa:
    """Host names in lower case, with short labels of letters that IDNA leaves unchanged."""
    label = r"[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?|[0-9a-z\u00DF-\u00F6\u00F8-\u00FF\u0430-\u044F\u4E00-\u9FA5]{1,10}"
    hosts = whole(rf"(?:{label})(?:\.(?:{label}))*")
    return intersection(difference(hosts, search("--")), lengths(1, 60))


def _simple_pattern() -> Dfa:
    """Patterns without back-references, named groups and unusual ranges, with groups nested at most three deep."""
    count = r"(?:[*+?]|\{\d{1,3}(?:,|,999)?\})\??"
    kept = r"0-9A-Za-z _<>=!:;@#%&~`'\",\u0080-\uD7FF"
    atom = rf"(?:[{kept}-]|\.|\\[dDwWsStnr\\^$.*+?()\[\]{{}}|\/]|\[\^?(?:[{kept}]|\\[dDwWsS\\\]]|0-9|a-z|A-Z)+\])"
    inside = rf"(?:{atom}(?:{count})?|\||\^|\$)*"
    for _ in range(3):
        inside = rf"(?:{atom}(?:{count})?|\||\^|\$|\((?:\?:)?{inside}\)(?:{count})?)*"
    return whole(inside)


_CERTAIN: Final = {"hostname": _host, "idn-hostname": _wide_host, "regex": _simple_pattern}


@cache
def certain_texts(name: str) -> Dfa:
    """A subset of a format with a `check`; its texts need no check."""
    return _CERTAIN[name]()


def _possible_pattern() -> Dfa:
    """All texts except some invalid patterns: a leading quantifier, or plain text with an unbalanced group."""
    return complement(whole(r"[*+?][^]*|[^\\()[\]{}|*+?.^$]*(?:\)[^]*|\([^\\()[\]{}|*+?.^$]*)"))


_POSSIBLE: Final = {"regex": _possible_pattern}


@cache
def possible_texts(name: str) -> Dfa:
    """A superset of a format with a `check`; no other text has the format."""
    return _POSSIBLE[name]() if name in _POSSIBLE else language(name)


_CHECKS: Final = {"hostname": _host_labels, "idn-hostname": _idn_host, "regex": _pattern}
