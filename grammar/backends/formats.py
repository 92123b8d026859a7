"""Patterns for the formats of JSON Schema: each matches valid texts only, if not all of them.

Does: narrow a format to a regular language inside it. Does not: match leap seconds, quoted mailboxes or punycode.
Sources: RFC 3339, 5321, 1123, 2673, 4291, 3986, 3987, 6570, 6901, 4122 and ISO 8601 by way of RFC 3339 appendix A.
"""

_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
# Year 0 is a valid RFC 3339 year, but few calendars have it.
_YEARS = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = "[A-Za-z0-9](?:-?[A-Za-z0-9]){0,30}"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,3}}"
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,32}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_IPV6 = "|".join(
    [f"(?:{_H16}:){{7}}{_H16}", f"(?:{_H16}:){{6}}{_IPV4}"]
    + [
        f"(?:{_H16}(?::{_H16}){{0,{left - 1}}})?::(?:{_H16}(?::{_H16}){{0,{6 - left}}})?"
        if left
        else f"::(?:{_H16}(?::{_H16}){{0,6}})?"
        for left in range(7)
    ]
    + [f"::(?:[fF]{{4}}:)?{_IPV4}"]
)
_UCS = "\u00a1-\u167f\u1681-\u1fff\u2030-\u205e\u2070-\u2fff\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufefe"


def _uri(extra: str) -> tuple[str, str]:
    """Absolute and relative references, with `extra` characters allowed."""
    char = f"(?:[A-Za-z0-9._~!$&'()*+,;=:@{extra}-]|%[0-9A-Fa-f]{{2}})"
    segment = f"(?:[A-Za-z0-9._~!$&'()*+,;=@{extra}-]|%[0-9A-Fa-f]{{2}})"
    after = rf"(?:\?(?:{char}|[/?])*)?(?:#(?:{char}|[/?])*)?"
    authority = rf"//(?:{_HOST}|{_IPV4})(?::[0-9]{{1,5}})?(?:/{char}*)*"
    path = f"{char}+(?:/{char}*)*"
    absolute = f"[A-Za-z][A-Za-z0-9+.-]*:(?:{authority}|{path}){after}"
    relative = f"(?:{authority}|/(?:{path})?|{segment}+(?:/{char}*)*)?{after}"
    return absolute, f"(?:{absolute}|{relative})"


_URI, _URI_REFERENCE = _uri("")
_IRI, _IRI_REFERENCE = _uri(_UCS)
_EMAIL = rf"{_ATOM}(?:\.{_ATOM})?@{_HOST}"
_DAYS = "(?:[0-9]{1,9}D)"
_HOURS = "T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S)"
_DATES = f"(?:[0-9]{{1,9}}Y(?:[0-9]{{1,9}}M{_DAYS}?)?|[0-9]{{1,9}}M{_DAYS}?|{_DAYS})"
_POINTER = "(?:/(?:[^/~]|~[01])*)*"

PATTERNS: dict[str, tuple[str, ...]] = {
    "date": (_DATE, f"{_YEARS}-.*"),
    "time": (_TIME,),
    "date-time": (f"{_DATE}T{_TIME}", f"{_YEARS}-.*"),
    "duration": (f"P(?:{_DATES}(?:{_HOURS})?|{_HOURS}|[0-9]{{1,9}}W)",),
    "email": (_EMAIL,),
    "idn-email": (_EMAIL,),
    "hostname": (_HOST,),
    "idn-hostname": (_HOST,),
    "ipv4": (_IPV4,),
    "ipv6": (_IPV6,),
    "uri": (_URI,),
    "uri-reference": (_URI_REFERENCE,),
    "iri": (_IRI,),
    "iri-reference": (_IRI_REFERENCE,),
    "uri-template": (
        rf"(?:{_URI}|(?:https?://{_HOST})?(?:/[A-Za-z0-9._~-]+|/?\{{[A-Za-z0-9_]+\}})*)",
    ),
    "uuid": ("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",),
    "json-pointer": (_POINTER,),
    "relative-json-pointer": (rf"(?:0|[1-9][0-9]{{0,8}})(?:#|{_POINTER})",),
}
"""A text has the format if it matches each of the patterns as a whole. Formats that are not here are annotations, but
for those in `REFUSED`."""

REFUSED = frozenset({"regex"})
"""Formats of the specification that no pattern here stands for."""
