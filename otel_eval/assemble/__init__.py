"""Spans into Interactions: the pure assembler, and what a live driver asks of it."""
