"""The messages of our own gRPC service, as protoc makes them of ``proto/otel_eval/v1/``: for ``otel_eval.api``, and for
clients.

In a package of the protocol's name, because that is what protoc imports by; ``docs/api.md`` shows a client.
"""
