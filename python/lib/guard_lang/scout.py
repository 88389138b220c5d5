"""Inspect Scout: a scanner judges recorded transcripts by a spec. Requires `inspect-scout` 0.6.1 or later.

scan([guard_scanner("agent.guard")], transcripts_from("logs"))
"""

from __future__ import annotations

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

from ._spec import Spec
from .inspect import events, judged

#: What a result is for a verdict; a verdict that is not known has no value.
VALUES = {"violated": True, "presumably_violated": True, "satisfied": False, "presumably_satisfied": False}


@scanner(messages="all")
def guard_scanner(spec: str) -> Scanner[Transcript]:
    """Give a result for each property of a spec, and for each violated instance: whether the transcript violates it.

    A result has the name of the property as its label, the verdict as its answer, and the messages that show a violation as
    references.
    """
    loaded = Spec.from_file(spec)

    async def scan(transcript: Transcript) -> list[Result]:
        messages = transcript.messages
        places = [event["index"] for event in events(messages)]
        results = []
        for verdict in judged(loaded, transcript.transcript_id, messages):
            shown = sorted({places[step] for step in verdict.counterexample})
            cites = {f"[M{place + 1}]": messages[place].id for place in shown}
            results.append(
                Result(
                    label=verdict.property,
                    value=VALUES.get(verdict.verdict),
                    answer=verdict.verdict,
                    explanation=f"{verdict.message or verdict.verdict} {' '.join(cites)}".strip(),
                    references=[Reference(type="message", cite=cite, id=name) for cite, name in cites.items() if name],
                )
            )
        return results

    return scan
