"""The commands of an SMT-LIB script as they arrive, for launchers whose libraries read a script whole or wait for more of it
than one command.
"""

import re

INSIDE = re.compile(rb'[()"|;]')
ENDS = {b'"': b'"', b"|": b"|", b";": b"\n"}


def commands(stream):
    """Gives each balanced command with what stands before it, as soon as the line on which it ends is there."""
    text, at, depth, begun = b"", 0, 0, False
    quote = None
    for line in iter(stream.readline, b""):
        text += line
        while True:
            if quote:
                end = text.find(ENDS[quote], at)
                if end < 0:
                    at = len(text)
                    break
                # `""` in a string ends it and begins one at once, which comes to the same here.
                at, quote = end + 1, None
                continue
            found = INSIDE.search(text, at)
            if not found:
                at = len(text)
                break
            at = found.end()
            sign = found.group()
            if sign == b"(":
                depth, begun = depth + 1, True
            elif sign == b")":
                depth -= 1
            else:
                quote = sign
            if begun and depth <= 0:
                yield text[:at].decode("utf-8", "surrogateescape")
                text, at, depth, begun = text[at:], 0, 0, False
    if text.strip():
        yield text.decode("utf-8", "surrogateescape")
