"""The running server: ``running.py`` wires the stages together, ``stages.py`` stops it where one dies, ``storage.py`` is its
directory, ``control.py`` how ``otel-eval delete`` asks it.

Import from the modules: a command that only needs the directory does not load the server.
"""
