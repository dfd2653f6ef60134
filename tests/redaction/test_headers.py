"""Headers carry secrets, in prose, in commands, in JSON and as pairs of a name and a value."""

from __future__ import annotations

import json

import pytest

from otel_eval.interaction import JsonValue
from otel_eval.redaction import Redaction

REDACTION = Redaction()
MARK = "[REDACTED:api_key]"

TEXTS = {
    "Cookie": ("Cookie: session=abc123def456; theme=dark", f"Cookie: session={MARK}; theme=dark"),
    "Cookie, letters": ("Cookie: sid=abcdefgh", f"Cookie: sid={MARK}"),
    "Cookie, no session by its name": ("cookie: _x=8f7a6b5c4d3e2f1a; b=1", f"cookie: _x={MARK}; b=1"),
    "Cookie of an application server": ("Cookie: JSESSIONID=0A1B2C3D4E5F60718293A4B5C6D7E8F9", f"Cookie: JSESSIONID={MARK}"),
    "Cookie in a sentence": ("it sent the Cookie: auth=s3cr3tvalue.", f"it sent the Cookie: auth={MARK}"),
    "Cookie in a command": ("curl -H 'Cookie: sid=a1b2c3d4' https://x", f"curl -H 'Cookie: sid={MARK}' https://x"),
    "Cookie in JSON": ('{"Cookie": "sid=a1b2c3d4; lang=en"}', f'{{"Cookie": "sid={MARK}; lang=en"}}'),
    "Cookie in JSON in JSON": (r'{\"cookie\": \"sid=a1b2c3d4\"}', rf'{{\"cookie\": \"sid={MARK}\"}}'),
    "Set-Cookie": (
        "Set-Cookie: sid=8f7a6b5c4d3e2f1a; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT; HttpOnly; token=a1b2c3d4",
        f"Set-Cookie: sid={MARK}; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT; HttpOnly; token={MARK}",
    ),
    "Set-Cookie in JSON": ('{"set-cookie": ["sid=a1b2c3d4; Path=/"]}', f'{{"set-cookie": ["sid={MARK}; Path=/"]}}'),
    "Authorization": ("Authorization: Bearer abcdefghijklmnopqrst", f"Authorization: Bearer {MARK}"),
    "Authorization, dumped": ("> Authorization: Basic dXNlcjpwYXNz\n> Accept: */*", f"> Authorization: Basic {MARK}\n> Accept: */*"),
    "Authorization in JSON": ('{"Authorization":"Bearer hunter"}', f'{{"Authorization":"Bearer {MARK}"}}'),
    "Proxy-Authorization": ("Proxy-Authorization: Basic dXNlcjpwYXNz", f"Proxy-Authorization: Basic {MARK}"),
    "pair": ('{"name": "Authorization", "value": "Bearer abcd"}', f'{{"name": "Authorization", "value": "Bearer {MARK}"}}'),
    "pair, escaped": (r'{\"name\": \"X-Api-Key\", \"value\": \"abcd1234\"}', rf'{{\"name\": \"X-Api-Key\", \"value\": \"{MARK}\"}}'),
    "pair, turned": ('{"value": "hunter2", "name": "password"}', f'{{"value": "{MARK}", "name": "password"}}'),
    "pair of a cookie": ('{"name":"Cookie","value":"sid=a1b2c3d4"}', f'{{"name":"Cookie","value":"sid={MARK}"}}'),
    "pair of key and value": ("{'key': 'DB_PASSWORD', 'value': 'hunter'}", f"{{'key': 'DB_PASSWORD', 'value': '{MARK}'}}"),
    "pair of Kubernetes": ("- name: DB_PASSWORD\n  value: hunter\n", f"- name: DB_PASSWORD\n  value: {MARK}\n"),
    "pair of XML": ('<add key="password" value="hunter"/>', f'<add key="password" value="{MARK}"/>'),
    "pair of HTML": ('<input name="password" value="hunter">', f'<input name="password" value="{MARK}">'),
    "list": ('[["Authorization", "Bearer abcd"]]', f'[["Authorization", "Bearer {MARK}"]]'),
    "list of cookies": ('[["Cookie","sid=a1b2c3d4"]]', f'[["Cookie","sid={MARK}"]]'),
    "tuple": ("('X-Api-Key', 'abcdef0123456789')", f"('X-Api-Key', '{MARK}')"),
    "key of Azure": ("Ocp-Apim-Subscription-Key: ab12cd34ef56", f"Ocp-Apim-Subscription-Key: {MARK}"),
    "key of functions": ("x-functions-key: ab12cd34ef56", f"x-functions-key: {MARK}"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "redacted"), TEXTS.values(), ids=TEXTS.keys())
def test_headers_are_redacted_in_texts(text: str, redacted: str) -> None:
    """Their secrets go; their names, schemes, attributes and settings stay; once is enough."""
    assert REDACTION.text(text) == redacted
    assert REDACTION.text(redacted) == redacted


VALUES: dict[str, tuple[JsonValue, JsonValue]] = {
    "key and value": ({"Authorization": "Bearer hunter"}, {"Authorization": MARK}),
    "name and value": ({"name": "Authorization", "value": "Bearer abcd"}, {"name": "Authorization", "value": MARK}),
    "key and value by name": ({"key": "password", "value": "hunter"}, {"key": "password", "value": MARK}),
    "AWS's tags": ({"Key": "DbPassword", "Value": "hunter"}, {"Key": "DbPassword", "Value": MARK}),
    "list": (
        {"headers": [["Authorization", "Bearer abcd"], ["Cookie", "sid=a1b2c3d4"], ["Accept", "text/html"]]},
        {"headers": [["Authorization", MARK], ["Cookie", f"sid={MARK}"], ["Accept", "text/html"]]},
    ),
    "flat list": (["Host", "x", "Authorization", "Bearer abcd"], ["Host", "x", "Authorization", MARK]),
    "Cookie": ({"Cookie": "sid=a1b2c3d4; theme=dark"}, {"Cookie": f"sid={MARK}; theme=dark"}),
    "Set-Cookie": ({"set-cookie": ["sid=a1b2c3d4; Path=/"]}, {"set-cookie": [f"sid={MARK}; Path=/"]}),
    "cookies": ({"cookies": {"sid": "a1b2c3d4", "theme": "dark"}}, {"cookies": {"sid": MARK, "theme": "dark"}}),
    "cookies as a browser lists them": (
        {"cookies": [{"name": "sid", "value": "abcdef", "domain": "x.example", "path": "/"}]},
        {"cookies": [{"name": "sid", "value": MARK, "domain": "x.example", "path": "/"}]},
    ),
    "parameter": ({"name": "user_token", "in": "query", "value": "abcd1234efgh"}, {"name": "user_token", "in": "query", "value": MARK}),
    "in lists of values": ({"name": "X-Api-Key", "value": ["abcd1234"]}, {"name": "X-Api-Key", "value": [MARK]}),
}  # fmt: skip


@pytest.mark.parametrize(("value", "redacted"), VALUES.values(), ids=VALUES.keys())
def test_headers_are_redacted_in_structures(value: JsonValue, redacted: JsonValue) -> None:
    """As keys, as pairs and in lists; once is enough; and nothing of it is left in the JSON of the original."""
    assert REDACTION.value(value) == redacted
    assert REDACTION.value(redacted) == redacted


def test_structures_stay_where_keys_are_not_redacted() -> None:
    """The kinds of the configuration hold here, too."""
    value: JsonValue = [{"name": "password", "value": "hunter2"}, ["Cookie", "sid=a1b2c3d4"], [["password", "hunter"]]]
    assert Redaction(kinds=["email"]).value(value) == value
    assert Redaction(kinds=["email"]).text(json.dumps(value)) == json.dumps(value)
