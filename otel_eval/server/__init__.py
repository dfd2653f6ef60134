"""The running server: ``receiving.py`` in two processes, as ``serve`` has it, ``running.py`` in one; ``judging.py``
wires what both have behind the journal. ``stages.py`` stops it where a stage dies, ``storage.py`` is its directory,
``control.py`` how ``otel-eval delete`` asks it.

Import from the modules: a command that only needs the directory does not load the server.
"""
