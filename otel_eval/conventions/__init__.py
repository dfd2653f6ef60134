"""How agents write their telemetry: one small module for each way, which turns one span into :class:`~.facts.Facts`.

A new convention is a module with a pure ``read(span) -> Facts | None`` and a ``CONVENTION``, and one line in ``table.py``.
What to know when writing one:

* ``Convention.prefixes`` (attribute keys), ``scopes`` and ``events`` say which spans are offered to ``read``. They are all
  that is looked at of most spans, so be exact. ``read_log`` gets log records that name a span.
* Of several conventions that recognise a span the first in the table decides ``kind`` and its fields; the next only fill
  what is None or MISSING. So read what *your* attributes say, and leave what the standard's attributes say to ``genai``.
* ``Kind.OTHER`` as the first answer makes the span an ordinary one (plumbing, duplicates, a prepared request). A frame
  around agents is WORKFLOW: topmost it is an Interaction if a model, tool or agent is below, elsewhere a step.
* Names: ``agent`` where the telemetry names the agent, ``weak_agent`` for a class, a function or a span's name.
* What readers share is in :mod:`~.reading`. Messages come from ``messages.read_messages`` (any framework's shape), whatever a
  function took and returned from ``payloads.input_payload`` and ``output_payload``, a tool's from
  ``tool_payloads.tool_arguments`` and ``tool_outcome``; flattened lists from ``values.unflatten``. Read attributes through
  ``content.Content``, which notes what is hidden or cut.
* What a model's client returned, serialised whole, is read by ``answers``; tracers that record whatever functions took and
  returned (Langfuse, MLflow, LangSmith) say only what is what, and ``observed`` reads it.
* ``input`` is all that went in, with history; the assembler finds this turn. Say ``new_from`` only if the telemetry does.
  ``asked`` and ``reply`` are for texts that the convention names outright, ``prompt`` for a framework's wrapping of them.
* A failed tool has an ``error``; what looks like a failure and is none sets ``control_flow``: ``failures.py``.
* Sessions and users under their known names are added for every span by the registry (``sessions.py``).
* Texts that the SDK's length limit cut are found for every span by the registry (``truncation.py``); a container that is cut
  is marked by ``content.Content``. Messages spread over many attributes say so: ``content.flattened``.
* ``setting`` is what would turn content on. Nothing is guessed: what is not there stays None, and becomes a gap.
"""
