"""Private keys in PEM go, whole or cut; other blocks, and words about them, stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.redaction import Redaction

REDACTION = Redaction()
MARK = "[REDACTED:api_key]"

# Put together here, so that no scanner takes this file for a leak.
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
LINE = "wEceYu1Q3MCpx33jUX7Figq5NWc60b1G2v2MZzbv7AhVLhjCw1r75tDMuKHixmjc"
FIRST = "MIIEogIBAAKC" + "AQEA" + LINE[:48]
LAST = "EwosvHAPgSe6TMaDytRg=="
KEY = f"{BEGIN}\n{FIRST}\n{LINE}\n{LAST}\n{END}"

BLOCKS = {
    "whole": (f"it is\n{KEY}\nkeep it", f"it is\n{MARK}\nkeep it"),
    "in JSON": (f'{{"key": "{KEY}"}}'.replace("\n", "\\n"), f'{{"key": "{MARK}"}}'),
    "on one line": (f"KEY='{KEY}' make".replace("\n", " "), f"KEY='{MARK}' make"),
    "twice": (f"{KEY}\n{KEY}", f"{MARK}\n{MARK}"),
    "encrypted": (
        f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C3D\n\n{LINE}\n{LINE}", MARK,
    ),
    "end cut": (f"{BEGIN}\n{FIRST}\n{LINE[:20]}", MARK),
    "end cut, with a mark": (f"{BEGIN}\n{FIRST}\n{LINE[:20]}… [500 characters cut]", f"{MARK}… [500 characters cut]"),
    "end cut, in JSON": (f'{{"a": "{BEGIN}\\n{FIRST}\\n{LINE[:9]}", "b": 1}}', f'{{"a": "{MARK}", "b": 1}}'),
    "middle cut": (f"{BEGIN}\n{FIRST}\n… [500 characters cut] …\n{LINE[9:]}\n{LAST}\n{END}", MARK),
    "beginning cut": (f"{LINE[40:]}\n{LINE}\n{LAST}\n{END}\nthanks", f"{MARK}\nthanks"),
    "beginning cut, after a mark": (f"cut] … {LINE}\n{LAST}\n{END}", f"cut] … {MARK}"),
    "beginning cut, in JSON": (f"{LINE[9:]}\\n{LINE}\\n{END}\\n", f"{MARK}\\n"),
    "both cut": (f"see {FIRST}\n{LINE}\n{LINE[:30]}", f"see {MARK}"),
    "no edges": ('"MC4CAQAwBQYDK2VwBCIEIN8ZWYx2' + LINE[:36] + '"', f'"{MARK}"'),
    "no edges, OpenSSH": ("b3BlbnNzaC1rZXktdj" + LINE, MARK),
    "PGP": (
        "-----BEGIN PGP PRIVATE" + f" KEY BLOCK-----\n\n{LINE}\n=abcd\n-----END PGP PRIVATE" + " KEY BLOCK-----\nx", f"{MARK}\nx",
    ),
    "cut twice": (f"{LINE}\n{END}\n{BEGIN}\n{LINE}", f"{MARK}\n{MARK}"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "redacted"), BLOCKS.values(), ids=BLOCKS.keys())
def test_private_keys_go_whole_or_cut(text: str, redacted: str) -> None:
    """What stands around stays; once is enough."""
    assert REDACTION.text(text) == redacted
    assert REDACTION.text(redacted) == redacted


@given(st.integers(0, len(KEY)), st.integers(0, len(KEY)))
def test_no_long_piece_of_a_key_is_left_wherever_it_was_cut(one: int, other: int) -> None:
    """As long as an edge of it, or its first bytes, are still there."""
    start, end = min(one, other), max(one, other)
    piece = KEY[start:end]
    if END in piece or BEGIN in piece:
        assert LINE[:24] not in REDACTION.text(piece)
        assert LINE[-24:] not in REDACTION.text(piece)


@pytest.mark.parametrize(
    "text",
    [
        f"Look for {BEGIN} in the file.",
        f"from {BEGIN} to {END}",
        f"{BEGIN}\nThis is where it begins.",
        f"it ends with {END}",
        f"the last line\nis {END}",
        LINE,
    ],
)
def test_words_about_keys_stay(text: str) -> None:
    """So does base64 that nothing calls a key."""
    assert REDACTION.text(text) == text
