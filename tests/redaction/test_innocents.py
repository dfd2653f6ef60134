"""What is no secret stays: prose, ids, hashes, dates, code and configuration, whatever it has in common with one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.interaction import JsonValue
from otel_eval.redaction import Redaction

REDACTION = Redaction()

INNOCENTS = [
    # Words after a name
    "password: required",
    "Password: incorrect, please try again.",
    "password: must be changed every 90 days",
    "password: please choose one that you do not use elsewhere",
    "Password: Forgot?",
    "Error: password: mismatch\nTry again.",
    "The password is required. The password is case-sensitive and was changed on 2026-11-30.",
    "Your password was reset 3 days ago; the old password is invalid now.",
    "password: varchar(255)",
    "- password: string\n- token: string",
    "Password: minimum 8 characters, 1 digit and 1 sign",
    "Fields: username, password, token.",
    "passphrase: several words that you remember",
    "secret: the sauce is made of tomatoes",
    "The secret is in the dough. Secret: knead it for 10 minutes.",
    "secret santa: Ann gives to Bob",
    "token: a piece of a word, about 4 characters",
    "The token is expired. Token: invalid. token=null",
    "key: value, primary key: customer-2024-0001, foreign_key: order_12345678",
    "The API key is missing. api_key: required, api key: see 1Password",
    "keyboard: QWERTZ102, monkey: Bubbles2009, turkey: 12 pounds",
    "authorization: pending; Authorization: none; Authorization: Bearer authentication is required",
    "Authorization: Basic authentication was removed in v2.1",
    "bearer responsibilities, bearer bonds, the basic configuration2026 example",
    # Cookies
    "Cookie: a small text file that a site stores; cookies: yes",
    "Cookie: theme=dark; lang=en-US; consent=granted",
    "cookie: chocolate chip, 250 g of flour",
    "Accept all cookies? accept_cookies=true&cookie_policy=https://example.com/cookies2",
    "Set-Cookie: theme=light; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT; SameSite=Lax",
    # Numbers
    "EAN 4006381333931, EAN 4012345678901, 4003994155486, 4711234567899",
    "EAN-13 5901234123457, GTIN-14 10614141000415, UPC 036000291452",
    "ISBN 978-3-16-148410-0, ISSN 2049-3630, DOI 10.1000/182",
    "IMEI 490154203237518, ICCID 8944500102198304826",
    "1733011200000 ms, 1733011200000000 us, 1733011200000000000 ns",
    "order 4006381333930, invoice 2024113012345678, parcel 00340434161094042557",
    "coordinates 48.858370, 2.294481; pi 3.14159265358979323846",
    "phone extension 4711, room 4012, 2026-11-30 12:00:00, 10:30-11:45, 12/27",
    "the years 2001 2002 2003 2004, the codes 4111-1111",
    # Ids and digests under names that promise nothing
    "commit dd4b533cb222d2e1f0a9b8c7d6e5f4a3b2c1d0e9, tree cb222d2",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "integrity: sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "ETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
    "trace 0af7651916cd43dd8448eb211c80319c, span b7ad6b7169203331, traceparent 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "id 550e8400-e29b-41d4-a716-446655440000, ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV, ObjectId 507f1f77bcf86cd799439011",
    "call_9pQ2rVxLk0aBcDeFgHiJkLmN, chatcmpl-9hGk3LmNoPqRsTuVwXyZ012345, msg_01XFDUDYJgAACzvnptvVoYEL, resp_67ccd2bed1ec8190",
    "cus_9s6XKzkNRiz8i3, pi_3MtwBwLkdIwHu7ix28a3tqPa, ord_8f7a6b5c4d3e2f1a, price_1MoBy5LkdIwHu7ixZhnattbh",
    "pk_live_51H8f7a6b5c4d3e2f1a0b9c8 is a key that is published",
    "image docker://alpine:3.19@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "arn:aws:iam::123456789012:role/Reader, projects/my-project-1234/locations/us-east1",
    "key-value, key-3, sk-learn, skip-link, us-east-1, ask-me-anything-2024, risk-assessment-q3-2026, fc-barcelona-2024",
    # Addresses
    "https://example.com/search?q=blue+shoes&page=2&sort=price_asc&utm_source=newsletter2026",
    "https://example.com/?code=SUMMER2026&key=color&sig=none",
    "https://x.example/?code=WELCOME2026SPECIALOFFER1, https://x.example/?key=product-2026-blue-shirt&page=2",
    "Pre-authorization: PA-2026-000123456789, \"app_key\": \"settings_page_2\", Boarding pass: AB12CD34, passport: C01X00T47",
    "PASS judge: the reply apologizes: scored 0.90, needed 0.50; pass: 12, fail: 3; compass: north12; key: C# minor",
    "https://example.com:8443/a@b, http://localhost:3000/@scope/package, https://host:443?to=me",
    "git@github.com:org/repo.git, ssh://git@github.com/org/repo, https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://x.example/doc?id=0af7651916cd43dd8448eb211c80319c&ref=abc123def456",
    # Code and configuration
    "def login(user: str, password: str, token: str | None = None) -> Session: ...",
    "password = input('Password: '); token = request.headers['Authorization']; key = os.environ[\"API_KEY\"]",
    "const apiKey = process.env.OPENAI_API_KEY; let secret = config.get('secret');",
    "SELECT password FROM users WHERE token = ? AND key = 'color'",
    "password: ${DB_PASSWORD}\ntoken: {{ .Values.token }}\nsecret: !vault production/db",
    "valueFrom:\n  secretKeyRef:\n    name: db-credentials\n    key: password",
    "- name: PASSWORD\n  valueFrom: {secretKeyRef: {name: db, key: password}}",
    "- name: LOG_LEVEL\n  value: debug2026\n- name: TOKEN_LIMIT\n  value: 4096",
    "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
    "setattr(user, 'password', value); getattr(settings, 'token', default); t('password', 'Passwort')",
    "if text.startswith('-----BEGIN PRIVATE KEY-----') and '-----END PRIVATE KEY-----' in text:",
    "A file in PEM starts with -----BEGIN PRIVATE KEY----- and is encoded in base64.",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJhc2U2NGVuY29kZWRwdWJsaWNrZXkxMjM0NTY3 ann-laptop",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "max_tokens: 4096, total_tokens=12345678, next_page_token=CAUQAA1234567890, tokenizer: cl100k_base",
    "private_key: Ed25519PrivateKey | None, api_key: os.environ/E2B_API_KEY, app_key_b64=app_key_b64, secret=self.s3_secret",
    "git://[path-to-repo[:]][ref@]path, https://***:***@proxy.example.com, https://user:${PASSWORD}@host, Bearer hf_***",
    '["your-secret-key", "us-east-1"], ("password", "Passwort"), ["token", "expired"]',
    "use --password to set it, --password is required, --token or --api-key, --password-file /run/secrets/db",
    "| user | password | token |\n|---|---|---|\n| ann | - | none |",
    "| password | VARCHAR(255) | required |\n| token | sha256 |",
    "<password>required</password><label>Password</label><password/><token>none</token>",
    "password for the admin account: see 1Password; password for bob: please ask",
    "password - see below; pw: ask Ann; Passwort: falsch; passwort vergessen? Contraseña: obligatoria",
    "password: |\n  (set in the vault)",
    'auth: required, auth=oauth2, "auth": {"type": "basic"}, author: Ann2026, authority: example.com:443, "auth": "bearer_token_v2"',
    "Tom &amp; Jerry &lt;b&gt; &quot;quoted&quot; 100&#37;",
    '"ChangeToken": "abcd12f2-46da-4fdb-b8d5-fbd4c466928f", "idempotency_token": "9f8e7d6c5b4a"',
    "curl -u $USER:$PASSWORD https://host, curl -o a:b.txt https://host, docker run -u 1000:1000 image",
    "Usage: --password PASSWORD --token TOKEN --api-key KEY",
    "Access-Control-Allow-Headers: Authorization, Cookie, X-Api-Key",
    "vary: Authorization, Cookie; WWW-Authenticate: Bearer realm=\"api\", error=\"invalid_token\"",
    "The quick brown fox (aged 4) jumped over 13 lazy dogs at 10:45 on 2026-12-01, see chapter 3.2.1.",
    "Kennwort: siehe Anhang; le mot de passe est obligatoire; パスワードは必須です",
]  # fmt: skip


@pytest.mark.parametrize("text", INNOCENTS)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    """As a text, and as a value of a structure."""
    assert REDACTION.text(text) == text
    assert REDACTION.value({"note": [text]}) == {"note": [text]}


WORDS = [
    "the",
    "password",
    "token",
    "secret",
    "key",
    "api",
    "authorization",
    "cookie",
    "cookies",
    "bearer",
    "basic",
    "is",
    "was",
    "for",
    "of",
    "and",
    "or",
    "a",
    "my",
    "your",
    "please",
    "reset",
    "expired,",
    "required.",
    "secure;",
    "(see)",
    "2026",
    "42",
    "e.g.",
    "https://example.com",
    "user@",
    "login,",
    "name",
    "value",
    "header",
    "list",
    "—",
    "it's",
]

VALUES: list[JsonValue] = [
    {"name": "password", "type": "string", "required": True},
    {"name": "password", "description": "The password of the user", "value": "required"},
    {"name": "Widget", "value": "blue2026", "key": "color"},
    {"Key": "Environment", "Value": "production-2026"},
    {"key": "max_tokens", "value": "4096"},
    {"key": "token", "value": "Paris"},
    [["name", "Ann"], ["city", "Paris2026"]],
    [["a", "b"], ["password", "required"]],
    ["password", "token", "secret"],
    ["Authorization", "Cookie", "Accept"],
    {"cookies": {"theme": "dark", "lang": "en", "consent": "granted"}},
    {"cookies": [{"name": "theme", "value": "dark", "path": "/", "httpOnly": True, "expires": 1800000000}]},
    {"api_key": "set", "password": "changed", "auth": "none", "tokenType": "Bearer1", "secretName": "db-credentials2"},
    {"name": "auth", "value": "oauth2"},
    {
        "passwordChangedAt": "2026-11-30T12:00:00Z",
        "password_min_length": 12,
        "tokenUri": "https://oauth2.example.com/token",
    },
    {"cookies": True, "cookie_policy": "strict"},
    {"keys": ["a1b2c3d4e5"], "primary_key": "id", "key": "a1b2c3d4e5f6", "sort_key": "2026-12-01"},
    {"sha256": "9f86d081884c7d659a2feaa0c55ad015", "etag": "33a64df551425fcc", "id": "507f1f77bcf86cd799439011"},
    {"ean": "4006381333931", "gtin": 4006381333931, "order": 4012345678901},
    {"usage": {"input_tokens": 1234567, "output_tokens": 89, "token_count": 1000000}},
]


@pytest.mark.parametrize("value", VALUES, ids=json.dumps)
def test_what_is_no_secret_stays_in_structures(value: JsonValue) -> None:
    """As values, and as their JSON."""
    assert REDACTION.value(value) == value
    assert REDACTION.text(json.dumps(value)) == json.dumps(value)


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_prose_about_secrets_stays(text: str) -> None:
    """In whatever order its words come: none is given to a name."""
    assert REDACTION.text(text) == text


@given(st.integers(min_value=4 * 10**12, max_value=5 * 10**12 - 1))
def test_article_numbers_that_begin_with_4_stay(number: int) -> None:
    """No payment card has 13 digits any more."""
    assert REDACTION.text(f"EAN {number}") == f"EAN {number}"
    assert REDACTION.value(number) == number
