"""The kit that otel-eval is tested with, for its users' tests too: no model, no network beyond loopback, no sleeping.

Import from the submodules (``otel_eval.testing.spans``, ``.sink``, ``.models``, ``.scripted_model``, ``.clock``,
``.interactions``): each needs only what it uses.
"""
