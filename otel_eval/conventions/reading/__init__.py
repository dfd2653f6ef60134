"""What conventions read with: nothing here belongs to one of them, and nothing here knows which of them asks.

From the value to the span::

    values, literals, reprs, langchain_reprs   what one attribute holds: JSON, a Python repr, a flattened list
    placeholders                               what stands where a value would
    parts, media, messages, llama_messages     a message of any shape, and what it is made of
    run_together, own_tools                    calls that a stream ran together; tools that a model's provider runs itself
    payloads, tool_payloads, structured        what a function took and returned, a tool, an agent with an object for an answer
    answers, streaming, reasons                what a model's client did, and why a model stopped
    langgraph, llama_events                    what two frameworks pass on to every tracer
    content                                    taking content out of attributes, and noting what is hidden, dropped or cut
    failures                                   what failed, and what only looks like it
    observed                                   tracers that record functions whole
    sessions, truncation, languages            what is read of every span, whatever its convention
"""
