"""The likely encoding of a text that is not UTF-8 and has no byte order mark.

Does: recognise the encodings of Latin scripts by the letters of their languages, all others by `charset_normalizer`;
tell a text with damaged bytes from one in another encoding. Does not: recognise UTF-16 or binary data.

In a text of a Latin script, single bytes that are not ASCII stand among ASCII letters. There are too few of them for
statistics: `charset_normalizer` takes the Windows text "José Peña" for one of MS-DOS, and "£12.50" for Polish.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

_SAMPLE: Final = 1 << 16
_BEFORE: Final = 1024
_FOREIGN: Final = re.compile(rb"[\x80-\xff]+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_LEAST_SHARE: Final = 0.9  # of the letters that are not ASCII, in one language

# Encodings with the languages written in them, by number of speakers, and their letters that are not ASCII.
_WESTERN: Final = (
    "áéíóúüñªº",  # Spanish
    "áâãàçéêíóôõúü",  # Portuguese
    "àâæçéèêëîïôœùûüÿ",  # French
    "äöüß",  # German
    "àèéìíòóùú",  # Italian
    "éèëïóöü",  # Dutch
    "åäöé",  # Swedish and Finnish
    "æøåéöü",  # Danish and Norwegian
    "àçéèíïóòúü",  # Catalan
)
_CENTRAL: Final = (
    "ąćęłńóśźż",  # Polish
    "ăâîşţșț",  # Romanian
    "áéíóöőúüű",  # Hungarian
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "čćđšž",  # Croatian, Bosnian, Slovene
)
_TURKISH: Final = "çğıöşüâîûİ"
_ICELANDIC: Final = "áéíóúýþæöð"
_BALTIC: Final = ("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž")
_LANGUAGES: Final = (
    *(("cp1252", letters) for letters in _WESTERN),
    *(("cp1250", letters) for letters in _CENTRAL),
    ("cp1254", _TURKISH),
    ("cp1252", _ICELANDIC),
    *(("cp1257", letters) for letters in _BALTIC),
    *(("iso8859_2", letters) for letters in _CENTRAL),
    *(("cp850", letters) for letters in _WESTERN),
    *(("cp852", letters) for letters in _CENTRAL),
    *(("mac_roman", letters) for letters in _WESTERN),
)
_SIGNS: Final = "„“”‘’‚«»‹›¿¡§©®™°€£¥¢•·–—…½¼¾²³¹±×÷¶†‡‰µ´\u00a0\u00ad"  # noqa: RUF001
_WITHIN_WORDS: Final = "’·\u00ad"  # noqa: RUF001
_KOREAN: Final = frozenset({"cp949", "euc_kr", "johab"})
# The Unicode encodings are recognised by their marks and zeros, not by statistics.
_UNICODE: Final = ["utf_7", "utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"]


def guessed_encoding(content: bytes) -> str | None:
    """The likely encoding of a text, as Python names it; None if there is none."""
    from charset_normalizer import from_bytes

    first = _FOREIGN.search(content)
    begin = 0 if first is None else max(0, first.start() - _BEFORE)
    sample = content[begin : begin + _SAMPLE]
    if _is_latin(sample) and (found := _latin(sample)) is not None:
        return found
    matches = from_bytes(sample, cp_exclusion=_UNICODE)
    names = [match.encoding for match in matches if _is_likely(str(match), match.encoding)]
    return names[0] if names else None


def mostly_fits(content: bytes, encoding: str) -> bool:
    """Whether a text is in an encoding but for a few damaged bytes: more of its characters beyond ASCII are valid.

    Raises:
        LookupError: there is no such encoding.
    """
    text = content.decode(encoding, "replace")
    damaged = text.count("\ufffd")
    return not damaged or 2 * damaged < len(_BEYOND_ASCII.findall(text))


def _is_latin(sample: bytes) -> bool:
    """Whether the bytes that are not ASCII mostly stand alone, or in pairs within a word."""
    runs = [len(run) for run in _FOREIGN.findall(sample)]
    return bool(runs) and sum(runs) < 1.5 * len(runs)


def _latin(sample: bytes) -> str | None:
    """The encoding in which the text is likeliest one of a language; None if it is none."""
    best, share = None, 0.0
    counts: dict[str, _Counts | None] = {}
    for encoding, letters in _LANGUAGES:
        if encoding not in counts:
            counts[encoding] = _counted(sample, encoding)
        counted = counts[encoding]
        found = 0.0 if counted is None else counted.share(letters)
        if found > share:
            best, share = encoding, found
    return best if share >= _LEAST_SHARE else None


@dataclass(frozen=True, slots=True)
class _Counts:
    """The characters beyond ASCII of a text: how many, its letters by number, and signs that stand where signs do.

    Only letters of words with usual case count as such: a capital within a word is a sign of a wrong encoding.
    """

    total: int
    letters: Counter[str]
    signs: int

    def share(self, letters: str) -> float:
        """The share of the characters that a text in a language with these letters would have."""
        good = sum(
            n for each, n in self.letters.items() if each in letters or each.lower() in letters
        )
        return (good + self.signs) / self.total if self.total else 0.0


def _counted(sample: bytes, encoding: str) -> _Counts | None:
    """The characters of a text in an encoding; None if it is not in this encoding."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return None
    letters, total, signs = Counter[str](), 0, 0
    for word in _WORD.findall(text):
        beyond = (
            [] if word.isascii() else [each for each in word if each > "\x7f" and each.isalpha()]
        )
        total += len(beyond)
        if beyond and (word.isupper() or word[1:].islower() or len(word) == 1):
            letters.update(beyond)
    for found in _BEYOND_ASCII.finditer(text):
        at, sign = found.start(), found.group()
        if sign.isalpha():
            continue
        within = text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
        total += 1
        signs += sign in (_WITHIN_WORDS if within else _SIGNS)
    return _Counts(total, letters, signs)


def _is_likely(text: str, encoding: str) -> bool:
    """Whether a text has the script that its encoding is made for: Korean of today is Hangul, not Chinese signs."""
    beyond = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    hangul = sum("\uac00" <= letter <= "\ud7a3" for letter in beyond)
    return encoding not in _KOREAN or 5 * hangul >= 4 * len(beyond)
