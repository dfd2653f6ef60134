"""Addresses carry secrets before their host and in their parameters; the rest of them stays."""

from __future__ import annotations

import pytest

from otel_eval.redaction import Redaction

REDACTION = Redaction()
MARK = "[REDACTED:api_key]"
SIGNATURE = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"

ADDRESSES = {
    "short password": ("https://bob:pw@host/x", f"https://bob:{MARK}@host/x"),
    "password alone": ("redis://:hunter2@host:6379/0", f"redis://:{MARK}@host:6379/0"),
    "at sign in the password": ("postgres://bob:p@ss@host/db", f"postgres://bob:{MARK}@host/db"),
    "letters in base64": ("https://bob:aHVudGVy@host", f"https://bob:{MARK}@host"),
    "token in the user's place": ("https://0a1b2c3d4e5f60718293@sentry.example/12", f"https://{MARK}@sentry.example/12"),
    "scheme in capitals": ("HTTPS://bob:hunter2@host", f"HTTPS://bob:{MARK}@host"),
    "S3": (
        f"https://b.s3.amazonaws.com/k?X-Amz-Date=20130524T000000Z&X-Amz-Signature={SIGNATURE}&X-Amz-Expires=60",
        f"https://b.s3.amazonaws.com/k?X-Amz-Date=20130524T000000Z&X-Amz-Signature={MARK}&X-Amz-Expires=60",
    ),
    "S3, with a session": (
        "https://b.s3.amazonaws.com/k?X-Amz-Security-Token=IQoJb3JpZ2luX2VjEJ&x=1",
        f"https://b.s3.amazonaws.com/k?X-Amz-Security-Token={MARK}&x=1",
    ),
    "Google Cloud Storage": (
        f"https://storage.googleapis.com/b/o?X-Goog-Expires=60&X-Goog-Signature={SIGNATURE}",
        f"https://storage.googleapis.com/b/o?X-Goog-Expires=60&X-Goog-Signature={MARK}",
    ),
    "CloudFront": (
        "https://d1.cloudfront.net/i.jpg?Expires=1&Signature=nitfHRCrtziwO2HwPfWw~yYDhUF5EwRunQA-j19DzZr&Key-Pair-Id=K2JCJMD",
        f"https://d1.cloudfront.net/i.jpg?Expires=1&Signature={MARK}&Key-Pair-Id=K2JCJMD",
    ),
    "Azure": (
        "https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2027-01-01T00:00:00Z&sig=abDE12%2Bxyz%2F456gh%3D",
        f"https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2027-01-01T00:00:00Z&sig={MARK}",
    ),
    "in HTML": (f'<a href="https://x/y?a=1&amp;sig={SIGNATURE}">', f'<a href="https://x/y?a=1&amp;sig={MARK}">'),
    "key": ("https://maps.example/x?key=abcd1234efgh5678&q=1", f"https://maps.example/x?key={MARK}&q=1"),
    "code of OAuth": ("https://app/cb?code=4/0AX4XfWhabcdef12345&state=x", f"https://app/cb?code={MARK}&state=x"),
    "session of a servlet": ("https://app/x;jsessionid=0A1B2C3D4E5F60718293?y=1", f"https://app/x;jsessionid={MARK}?y=1"),
    "at the end of a sentence": (f"see https://x/y?sig={SIGNATURE}.", f"see https://x/y?sig={MARK}."),
    "beside it": ("curl -s -u bob:hunter2 https://x", f"curl -s -u bob:{MARK} https://x"),
    "in Markdown": (f"[file](https://x/y?sig={SIGNATURE})", f"[file](https://x/y?sig={MARK})"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "redacted"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_secrets_in_addresses_go(text: str, redacted: str) -> None:
    """Once is enough."""
    assert REDACTION.text(text) == redacted
    assert REDACTION.text(redacted) == redacted
