"""Three adapted label judges over one agent. The judge's model is scripted, so that this runs anywhere."""

from __future__ import annotations

import json
import sys

from label_judges import child_safe, headline, keeps_to_documents
from opentelemetry import trace

from otel_eval import EvalCase, Experiment, completing
from otel_eval.testing.models import label

ARTICLE = "Summarize: The library opens on Sundays from May on. Entry is free, and children may borrow five books."


def agent(command: str) -> str:
    """Stands for an agent: any instrumented framework will do."""
    message = json.dumps([{"role": "user", "parts": [{"type": "text", "content": command}]}])
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "editor",
        "gen_ai.input.messages": message,
    }
    with trace.get_tracer("editor").start_as_current_span("invoke_agent editor", attributes=attributes):
        return "Library opens on Sundays, and a café comes with it"


def model(system: str, user: str) -> str:
    """Stands for the judge's model: it reads, and sees that nobody spoke of a café."""
    if "hallucinated" in system:
        return label("hallucinated", "The message says nothing of a café.")
    if "Summary" in user:
        return label("bad", "It has what the document does not say.")
    return label("non-toxic", "A child may read it.")


def main() -> int:
    with completing(model):
        report = Experiment(
            name="headlines",
            cases=[EvalCase("library", ARTICLE)],
            agent=agent,
            evaluators=[child_safe, headline, keeps_to_documents],
        ).run()
    print(report.render())
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
