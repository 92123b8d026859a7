"""The characters of a text as a model sees them.

Does: replace the control characters that JSON writes as escapes. Does not: change anything else in a text.
"""

import re
from typing import Final

_LINE_END: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x1f]")
_REPLACED: Final = bytes(set(range(0x20)) - set(b"\t\n"))


def prompt_text(text: str) -> str:
    """`text` with line feeds as line ends, and a space for each other control character but tabs.

    In a JSON string they are escapes of several characters, so a model that copies has no token for them: it would
    write what looks similar to it.
    """
    # Bytes are looked through twenty times as fast as characters, and few texts have any of these.
    written = text.encode(errors="surrogatepass")
    if len(written.translate(None, _REPLACED)) == len(written):
        return text
    return _CONTROL.sub(" ", _LINE_END.sub("\n", text))
