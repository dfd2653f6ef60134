"""What conventions read with: nothing here belongs to one of them, and nothing here knows which of them asks.

From the value to the span::

    values, literals, reprs, langchain_reprs   what one attribute holds: JSON, a Python repr, a flattened list, a placeholder
    parts, messages, llama_messages            a message of any shape, and what it is made of
    payloads, structured, answers, streaming   what a function took and returned, what a model's client did
    content                                    taking content out of attributes, and noting what is hidden, dropped or cut
    trouble                                    what failed, and what only looks like it
    observed                                   tracers that record functions whole
    sessions, cutting, languages               what is read of every span, whatever its convention
"""
