"""Evaluators: exact ones, judged ones and custom ones, all under one contract (:mod:`otel_eval.evaluators.contract`).

What users need of them is exported by :mod:`otel_eval`; :mod:`otel_eval.evaluators.checks` lists the exact ones.
"""
