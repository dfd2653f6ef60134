"""Values go by the name they stand under; prose, placeholders and code under the same names stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.interaction import JsonValue
from otel_eval.redaction import Redaction
from otel_eval.redaction.assignments import assigned, may_assign

REDACTION = Redaction()
MARK = "[REDACTED:api_key]"

SECRETS = {
    "JSON": ('{"user":"bob","password":"hunter22"}', f'{{"user":"bob","password":"{MARK}"}}'),
    "JSON in JSON": (r'{\"password\": \"hunter22\"}', rf'{{\"password\": \"{MARK}\"}}'),
    "short, in quotes": ("password='abc'", f"password='{MARK}'"),
    "after a colon": ("password: hunter22!", f"password: {MARK}"),
    "a sentence around it": ("The password: hunter22, thanks.", f"The password: {MARK}, thanks."),
    "signs": ("passwd=S3cr3t!Pass@word#99", f"passwd={MARK}"),
    "separators in it": ("passwd=S3c;r3t&9 x", f"passwd={MARK} x"),
    "letters alone": ("?user=bob&password=swordfish&x=1", f"?user=bob&password={MARK}&x=1"),
    "digits alone": ("password: 12345678", f"password: {MARK}"),
    "database": ("Server=x;Pwd=letmein;Database=y", f"Server=x;Pwd={MARK};Database=y"),
    "token": ("token=abcdef1234567890abcdef", f"token={MARK}"),
    "token after a colon": ("your token: abcdef1234567890abcdef.", f"your token: {MARK}."),
    "token header": ("Authorization: Token 9944b09199c62bcf9418", f"Authorization: Token {MARK}"),
    "authorization in JSON": ('{"authorization": "Basic YWxhZGRpbjpvcA=="}', f'{{"authorization": "Basic {MARK}"}}'),
    "no scheme": ("Authorization: abcdef1234567890abcdef", f"Authorization: {MARK}"),
    "secret": ("secret: s3cr3tvalue", f"secret: {MARK}"),
    "Django": ("SECRET_KEY='django-insecure-9x!k3@abc$d'", f"SECRET_KEY='{MARK}'"),
    "Django, no quotes": ("SECRET_KEY=django-insecure-9x!k3@abc$d", f"SECRET_KEY={MARK}"),
    "subscript": ('config["password"] = "hunter22"', f'config["password"] = "{MARK}"'),
    "YAML": ("db:\n  password: hunter22\n  host: x", f"db:\n  password: {MARK}\n  host: x"),
    "Markdown": ("**Password:** hunter22 and **API key**: ab12cd34", f"**Password:** {MARK} and **API key**: {MARK}"),
    "on the next line": ("api_key:\n  abcdef0123456789", f"api_key:\n  {MARK}"),
    "short secret": ("client_secret=abc123", f"client_secret={MARK}"),
    "passphrase": ('passphrase: "correct horse battery staple"', f'passphrase: "{MARK}"'),
    "e-mail address": ("password=ann@example.com", f"password={MARK}"),
    "letters alone, after a colon": ("password: hunter", f"password: {MARK}"),
    "letters alone, line by line": ("User: bob\nPassword: Swordfish\nHost: db", f"User: bob\nPassword: {MARK}\nHost: db"),
    "letters alone, on one line": ("User: bob Password: Swordfish Host: db", f"User: bob Password: {MARK} Host: db"),
    "letters alone, in a sentence": ("login: bob, password: swordfish and be quick", f"login: bob, password: {MARK} and be quick"),
    "letters alone, at the end": ("Your password: swordfish.", f"Your password: {MARK}."),
    "said in a sentence": ("The password is hunter2, the API key is ab12cd34.", f"The password is {MARK}, the API key is {MARK}."),
    "base64": ("password: aHVudGVyMg==", f"password: {MARK}"),
    "base64 of letters": ("secret: aHVudGVy", f"secret: {MARK}"),
    "base64 by its name": ("api_key_b64=aHVudGVyaHVudGVy", f"api_key_b64={MARK}"),
    "Kubernetes": ("data:\n  password: aHVudGVy\n  username: YWRtaW4=", f"data:\n  password: {MARK}\n  username: YWRtaW4="),
    "option of a command": ("login --password hunter2 --user bob", f"login --password {MARK} --user bob"),
    "key as an option": ("run --api-key a1b2c3d4e5f6g7h8 now", f"run --api-key {MARK} now"),
    "netrc": ("machine x login bob password swordfish", f"machine x login bob password {MARK}"),
    "element": ("<db><password>swordfish</password></db>", f"<db><password>{MARK}</password></db>"),
    "element with attributes": ('<wsse:Password Type="x">hunter2</wsse:Password>', f'<wsse:Password Type="x">{MARK}</wsse:Password>'),
    "element, escaped": ("&lt;apiKey&gt;a1b2c3d4e5f6&lt;/apiKey&gt;", f"&lt;apiKey&gt;{MARK}&lt;/apiKey&gt;"),
    "block": ("password: |\n  hunter2\nnext: x", f"password: |\n  {MARK}\nnext: x"),
    "table": ("| password | hunter2 |", f"| password | {MARK} |"),
    "arrow": ("password -> hunter2", f"password -> {MARK}"),
    "dash": ("password – hunter2", f"password – {MARK}"),
    "beside it": ("the password 'hunter2' works", f"the password '{MARK}' works"),
    "whose": ("Password for the account of bob: hunter2", f"Password for the account of bob: {MARK}"),
    "other languages": ("Passwort: hunter2, contraseña: hunter2, mot de passe : hunter2", f"Passwort: {MARK}, contraseña: {MARK}, mot de passe : {MARK}"),
    "other scripts": ("пароль: hunter2\nパスワード: hunter2\n密码：hunter2x", f"пароль: {MARK}\nパスワード: {MARK}\n密码：{MARK}"),
    "short name": ("my pw is hunter2", f"my pw is {MARK}"),
    "many letters": ("api_key: abcdefghijklmnopqrstuvwx", f"api_key: {MARK}"),
    "Docker": ('{"auths":{"r.io":{"auth":"Ym9iOmh1bnRlcjI="}}}', f'{{"auths":{{"r.io":{{"auth":"{MARK}"}}}}}}'),
    "other fields between": (
        '{"key":"api_key","type":"string","value":"abcd1234"}', f'{{"key":"api_key","type":"string","value":"{MARK}"}}'
    ),
    "header in a command": ("curl -H 'X-Api-Key: ab12cd34ef56'", f"curl -H 'X-Api-Key: {MARK}'"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "redacted"), SECRETS.values(), ids=SECRETS.keys())
def test_what_stands_under_a_secrets_name_goes_whole(text: str, redacted: str) -> None:
    """Short or not, and once is enough."""
    assert REDACTION.text(text) == redacted
    assert REDACTION.text(redacted) == redacted


ORDINARY = [
    "password: please choose one",
    "password: must have 8 characters; password: 8-16 characters; password: 8+ characters",
    "Password: 2FA required, password: SHA256 hashed, password: https://example.com/reset1",
    "token: the smallest unit; token: word2vec",
    "secret: none, secret: project X9, secret = true, token=null",
    'password="", password=\'\', "password": null, "password": true, "password": "string"',
    "password: ***, password=********, password='xxxx', api_key=<your-key>, token=${TOKEN}, api_key='your_api_key_here'",
    "password=$DB_PASSWORD, password={{ vault.password1 }}, token=%(token1)s, password=$(cat x1)",
    "api_key=os.environ['OPENAI_API_KEY1'], token = lexer.next_token(1), password=get_password(user1)",
    "auth_token=settings.AUTH_TOKEN_V2, password=self.password, login(user, password=password, token=token)",
    "max_tokens=1024, tokens: 12, token count: 12, max_token=100000, input_tokens: 1234567890123",
    "next_page_token: abc123def456ghi7, passwords: hunter22, token_type=bearer, tokenizer=cl100k_base",
    '{"password": {"type": "string", "description": "at least 8 characters"}}',
    "PWD=/home/ann/project1, pwd: /srv/x1",
    "Authorization: required, authorization: Bearer expired, authorization: pending",
    "password:\nuser1name:\n  x",
    "The password is required. Key: value. monkey=banana1234567890",
    "secret_key=None, api_key: str = '', key = 'customer-2024-0001'",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_prose_placeholders_and_code_stay(text: str) -> None:
    """Where a name is written of, left open, or read from somewhere."""
    assert REDACTION.text(text) == text


VALUES: dict[str, tuple[JsonValue, JsonValue]] = {
    "list": ({"password": ["hunter22"]}, {"password": [MARK]}),
    "number": ({"password": 12345678}, {"password": MARK}),
    "object": ({"password": {"value": "hunter22"}}, {"password": {"value": MARK}}),
    "short": ({"Pwd": "abc"}, {"Pwd": MARK}),
    "secret": ({"secret": "swordfish"}, {"secret": MARK}),
    "token": ({"userToken": "abcdef1234567890"}, {"userToken": MARK}),
    "headers": (
        {"headers": {"Authorization": "Token 9944b09199c62bcf", "X-Api-Key": "abcdef12", "Accept": "text/html"}},
        {"headers": {"Authorization": MARK, "X-Api-Key": MARK, "Accept": "text/html"}},
    ),
    "Docker": ({"auth": "Ym9iOmh1bnRlcjI="}, {"auth": MARK}),
    "a header's values": ({"authorization": ["abcdef1234567890abcd"]}, {"authorization": [MARK]}),
}  # fmt: skip


@pytest.mark.parametrize(("value", "redacted"), VALUES.values(), ids=VALUES.keys())
def test_what_stands_under_a_secrets_key_goes(value: JsonValue, redacted: JsonValue) -> None:
    """In lists, objects and numbers, too; once is enough."""
    assert REDACTION.value(value) == redacted
    assert REDACTION.value(redacted) == redacted


@pytest.mark.parametrize(
    "value",
    [
        {"password": "please choose one"},
        {"password": None, "secret": True, "api_key": "", "pwd": "***"},
        {"password": {"type": "string", "description": "The password2 of the user", "required": True}},
        {
            "max_tokens": 100000,
            "token": "Paris",
            "tokens": ["a1b2c3d4e5"],
            "token_count": 12345678,
            "token_id": 1234567,
        },
        {"next_page_token": "CAUQAA1234567890", "tokenizer": "cl100k_base", "access": "hunter22", "key": "hunter22"},
        {"authorization": "pending"},
        {"api_key": "${OPENAI_API_KEY}", "secret": "<your-secret>", "password": "none"},
    ],
)
def test_ordinary_values_stay_under_such_keys(value: JsonValue) -> None:
    """Schemas, counts, cursors, placeholders and what is empty."""
    assert REDACTION.value(value) == value


def test_names_say_nothing_where_keys_are_not_redacted() -> None:
    """The kinds of the configuration hold here, too."""
    assert Redaction(kinds=["email"]).value({"password": "hunter22"}) == {"password": "hunter22"}
    assert Redaction(kinds=["email"]).text("password=hunter22") == "password=hunter22"


NAMES = [
    "password",
    "DB_PASSWORD",
    "Passwd",
    "client_secret",
    "api_key",
    "secretAccessKey",
    "refresh-token",
    "userToken",
]


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["=", ": ", "' : '", '": "', " => ", " := ", "** : **"]),
    st.from_regex(r"\A[A-Za-z]{4}[0-9]{3}[A-Za-z0-9]{5,20}\Z"),
    st.text(alphabet="wo rd.\n", max_size=20),
)
def test_no_random_value_stays_under_a_secrets_name(name: str, by: str, secret: str, around: str) -> None:
    """However it is assigned, and whatever stands around."""
    text = f"{around}\n'{name}{by}{secret}' {around}" if "'" in by else f'{around}\n"{name}{by}{secret}" {around}'
    assert secret not in REDACTION.text(text)


@given(st.sampled_from(NAMES), st.text())
def test_a_name_is_looked_for_first_by_a_part_of_it(name: str, around: str) -> None:
    """The search that comes first costs no find, in whichever case and letters."""
    text = f"{around}{name}='a1b2c3d4e5f6'{around}"
    assert list(assigned(text)) == [] or may_assign(text)
    assert may_assign(name.upper().replace("S", "\u017f"))


@given(st.text(alphabet="pasword:='\"token 1a&;,.[]<\n", max_size=60), st.sampled_from(sorted(SECRETS)))
def test_redacting_twice_is_redacting_once(text: str, name: str) -> None:
    """Whatever stands around."""
    for each in (text, f"password={text}", text + SECRETS[name][0] + text):
        once = REDACTION.text(each)
        assert REDACTION.text(once) == once


@pytest.mark.parametrize(
    "text", ["password=" * 20_000, "password: '" * 20_000, "token=a1&" * 20_000, "secret" * 30_000 + "=", "password=" + "a." * 50_000, "password='" + "a b " * 50_000]
)  # fmt: skip
def test_a_hostile_text_takes_no_long_time(text: str) -> None:
    """Whoever writes to an agent must not be able to stop its evaluation."""
    began = time.process_time()
    REDACTION.text(text)
    assert time.process_time() - began < 5
