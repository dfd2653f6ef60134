"""Redaction: what must not leave the machine, replaced by typed markers before a judge or an exporter sees it.

| module | |
|---|---|
| `redacting`, `texts` | :class:`Redaction`: JSON values and whole Interactions; one text |
| `patterns` | what secrets and personal data look like, in the order in which they are looked for |
| `keys`, `blocks` | keys and tokens by their shape, private keys in PEM |
| `names`, `values` | what a name promises of its value, and what a value looks like |
| `assignments`, `places` | secrets in texts by their names, and where a name's value stands |
| `headers`, `addresses` | credentials and cookies; what stands before a host and in parameters |
| `numbers` | payment cards and IBANs |
| `hidden` | secrets behind escapes, over lines, in base64 and in hex |
| `markers`, `masks` | what stands where something was redacted, ours and other tools'; runs of asterisks |
"""

from otel_eval.redaction.markers import EMAIL, PAYMENT_CARD, PHONE, marker
from otel_eval.redaction.patterns import API_KEY, IBAN
from otel_eval.redaction.redacting import BUILTIN_KINDS, NOTHING, Redaction

__all__ = ["API_KEY", "BUILTIN_KINDS", "EMAIL", "IBAN", "NOTHING", "PAYMENT_CARD", "PHONE", "Redaction", "marker"]
