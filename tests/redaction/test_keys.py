"""Keys of today's shapes become markers, wherever they stand and whatever follows them."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.redaction import Redaction
from otel_eval.redaction.keys import HINTS, SHAPES

REDACTION = Redaction()
MARK = "[REDACTED:api_key]"

HEX32, MIXED = "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7n"


def in_base64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


# Put together here, so that no scanner takes this file for a leak.
KEYS = {
    "OpenAI": "sk-" + MIXED,
    "OpenAI, project": "sk-" + f"proj-{MIXED}_{MIXED}-T3BlbkFJ{MIXED}",
    "OpenAI, service account": "sk-" + f"svcacct-{MIXED}T3BlbkFJ{MIXED}",
    "OpenAI, admin": "sk-" + f"admin-{MIXED}",
    "Anthropic": "sk-" + f"ant-api03-{MIXED}-{MIXED}AA",
    "Anthropic, OAuth": "sk-" + f"ant-oat01-{MIXED}",
    "OpenRouter": "sk-" + f"or-v1-{HEX32}{HEX32}",
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "AWS, temporary": "ASIA" + "IOSFODNN7EXAMPLE",
    "AWS, bearer": "ABIA" + "IOSFODNN7EXAMPLE",
    "Bedrock": "ABSK" + MIXED * 3,
    "Bedrock, for hours": "bedrock-api-key-" + MIXED,
    "Google": "AIza" + MIXED[:35],
    "Google, OAuth": "ya29." + f"a0{MIXED}",
    "Google, refresh": "1//" + f"0{MIXED}",
    "Google, client": "GOCSPX-" + MIXED[:28],
    "Gemini": "AQ." + f"Ab8R{MIXED}",
    "Azure, client": "abc8Q~" + MIXED[:34],
    "Azure OpenAI": MIXED + "aB3dE5gH7jK9" + "JQQJ99BKACYeBjFXJ3w3AAABACOG",
    "Azure Storage": MIXED + MIXED[:36] + "+AStabcde==",
    "Azure DevOps": MIXED + MIXED[:36] + "AZDOab12",
    "GitHub": "ghp_" + MIXED[:36],
    "GitHub, installation": "ghs_" + MIXED[:36],
    "GitHub, fine-grained": "github_pat_" + f"11ABCDEFG0{MIXED[:12]}_{MIXED}",
    "GitLab": "glpat-" + MIXED[:20],
    "GitLab, runner": "glrt-" + MIXED[:20],
    "Slack, bot": "xoxb-" + "123456789012-1234567890123-" + MIXED[:24],
    "Slack, browser": "xoxc-" + f"123456789012-{HEX32}",
    "Slack, rotated": "xoxe.xoxp-1-" + MIXED,
    "Slack, app": "xapp-" + f"1-A0123-456-{HEX32}",
    "Stripe": "sk_" + f"live_51{MIXED}",
    "Stripe, restricted": "rk_" + f"test_51{MIXED}",
    "Stripe, organisation": "sk_" + f"org_live_{MIXED}",
    "Stripe, webhook": "whsec_" + MIXED,
    "Hugging Face": "hf_" + MIXED[:34],
    "LangSmith": "lsv2_pt_" + f"{HEX32}_0a1b2c3d4e",
    "Tavily": "tvly-" + f"dev-{MIXED}",
    "ElevenLabs": "sk_" + HEX32 + HEX32[:16],
    "Mailgun": "key-" + HEX32,
    "Mailchimp": HEX32 + "-us12",
    "Grafana": "glsa_" + f"{MIXED[:32]}_0a1b2c3d",
    "Atlassian": "ATATT3x" + f"FfGF0{MIXED}",
    "Sentry": "sntrys_" + MIXED,
    "Tailscale": "tskey-" + f"auth-{MIXED[:12]}CNTRL-{MIXED[:20]}",
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
    "JWT": ".".join([in_base64({"alg": "RS256"}), in_base64({"sub": "1234", "aud": "x"}), MIXED]),
    "JWT, not signed": ".".join([in_base64({"alg": "none"}), in_base64({"sub": "1234"}), ""]),
    "JWT, cut": ".".join([in_base64({"alg": "RS256"}), in_base64({"sub": "1234"})]),
    "JWT, encrypted": ".".join([in_base64({"alg": "RSA-OAEP", "enc": "A256GCM"}), MIXED, MIXED[:16], MIXED, MIXED[:22]]),
    "JWT, encrypted directly": ".".join([in_base64({"alg": "dir", "enc": "A256GCM"}), "", MIXED[:16], MIXED, MIXED[:22]]),
}  # fmt: skip
AROUND = [
    "{}", "the key is {} today", '{{"value":"{}"}}', "x={}", "({})", "- {}\n- next", "https://host/{}?x", "KEY_{}", r"{{\"k\":\"{}\"}}",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_keys_are_known_by_their_shape(key: str) -> None:
    """Whatever stands around, which stays."""
    for around in AROUND:
        assert REDACTION.text(around.format(key)) == around.format(MARK)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_keys_in_base64_are_known(key: str) -> None:
    """As a header or a Kubernetes secret has them."""
    assert REDACTION.text(f"data: {base64.b64encode(key.encode()).decode()}.") == f"data: {MARK}."


@given(st.from_regex(SHAPES, fullmatch=True))
def test_every_shape_has_what_is_looked_for_first(key: str) -> None:
    """One of the hints, and a run of the characters that keys are made of."""
    assert any(hint in key for hint in HINTS)
    assert REDACTION.text(key) != key


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.slack.com/" + "services/T00000000/B00000000/" + MIXED[:24],
        "https://hooks.slack.com/" + "workflows/T00000000/A00000000/123456789/" + MIXED[:24],
        "https://discord.com/" + "api/webhooks/123456789012345678/" + MIXED,
    ],
)
def test_addresses_that_are_keys_are_known(address: str) -> None:
    """Who knows such an address may post to it."""
    assert REDACTION.text(f"post to {address}, please") == f"post to https://{MARK}, please"
