"""Inspect AI: a spec approves tool calls, reviews their results and scores samples. Requires `inspect-ai` 0.3.285 or later.

    approval=[ApprovalPolicy(guard_approver("agent.guard"), "*")]
    review=[ReviewPolicy(guard_reviewer("agent.guard"), "*")]
    Task(…, scorer=guard_scorer("agent.guard"))

In a policy file they are `guard_lang/guard_approver` and `guard_lang/guard_reviewer`.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.approval import Approval, Approver, approver
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ContentReasoning
from inspect_ai.review import Review, Reviewer, reviewer
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolCallView, ToolResult

from ._report import Verdict
from ._spec import Spec
from ._text import parts, text_of

DECISIONS: dict[str, Any] = {
    "allow": "approve",
    "warn": "approve",
    "reflect": "approve",
    "ask": "escalate",
    "block": "reject",
    "stop": "terminate",
}
#: A reviewer cannot withhold a result, so that a blocked one ends the sample.
REVIEWS: dict[str, Any] = {
    "allow": "continue",
    "warn": "continue",
    "reflect": "continue",
    "ask": "escalate",
    "block": "terminate",
    "stop": "terminate",
}


@approver
def guard_approver(spec: str) -> Approver:
    """Decide about each call by the `enforce` clauses of a spec, after the history of its sample.

    `ask` escalates to the next approver, `block` rejects with the reason, and `stop` terminates the sample. Whatever goes
    wrong rejects. Rejected calls of the history did not happen; other calls of the same message count.
    """
    loaded = Spec.from_file(spec)

    async def approve(message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]) -> Approval:
        try:
            with loaded.monitor(clock="none") as monitor:
                for event in events(history, before=call.id):
                    monitor.observe({"trace": "sample", **event})
                decision = monitor.act({"trace": "sample", **_call(call)})
                return Approval(decision=DECISIONS[decision.ruling], explanation=decision.reason or None)
        except Exception as error:
            return Approval(decision="reject", explanation=f"the call could not be judged: {error}")

    return approve


@reviewer
def guard_reviewer(spec: str) -> Reviewer:
    """Decide about the result of each call by the `enforce` clauses of a spec, before the model reads it.

    `ask` escalates to the next reviewer; Inspect continues if there is none. `block` and `stop` terminate the sample, since a
    review cannot withhold a result. An error terminates it too.
    """
    loaded = Spec.from_file(spec)

    async def review(  # noqa: PLR0917 - the protocol of Inspect
        message: str,
        call: ToolCall,
        result: ChatMessageTool,
        output: ToolResult,
        view: ToolCallView,
        history: list[ChatMessage],
    ) -> Review:
        try:
            with loaded.monitor(clock="none") as monitor:
                for event in events(history, before=call.id):
                    monitor.observe({"trace": "sample", **event})
                monitor.observe({"trace": "sample", **_call(call)})
                about = {"tool": call.function, "args": call.arguments, "call": call.id}
                decision = monitor.act({"trace": "sample", **_result(result, about)})
                return Review(decision=REVIEWS[decision.ruling], explanation=decision.reason or None)
        except Exception as error:
            return Review(decision="terminate", explanation=f"the result could not be judged: {error}")

    return review


@scorer(metrics={"*": [mean()]})
def guard_scorer(spec: str) -> Scorer:
    """Score each property of a spec: 1 if the sample satisfies it, 0 if it violates it or if that is unknown."""
    loaded = Spec.from_file(spec)

    async def score(state: TaskState, target: Target) -> Score:
        kept: dict[str, Any] = {one.name: 1 for one in loaded.properties}
        told = []
        for verdict in judged(loaded, str(state.sample_id), state.messages):
            if verdict.verdict not in ("satisfied", "presumably_satisfied"):
                kept[verdict.property] = 0
                place = "" if verdict.at is None else f" at step {verdict.at}"
                told.append(f"{verdict.property}: {verdict.verdict}{place} {verdict.message or ''}".strip())
        return Score(value=kept, explanation="\n".join(told) or "no violation")

    return score


def judged(spec: Spec, name: str, messages: list[ChatMessage]) -> list[Verdict]:
    """Return the verdicts of a spec about the messages of a sample that has ended."""
    report = spec.audit([{"id": name, "complete": True, "events": events(messages)}], format="native")
    return [verdict for trace in report for verdict in trace.verdicts]


def events(messages: list[ChatMessage], before: str | None = None) -> list[dict[str, Any]]:
    """Return messages as canonical events, up to the call with the id `before`. Calls that were rejected are left out."""
    rejected = {
        message.tool_call_id
        for message in messages
        if isinstance(message, ChatMessageTool) and message.error is not None and message.error.type == "approval"
    }
    found: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for index, message in enumerate(messages):
        if isinstance(message, ChatMessageTool):
            if message.tool_call_id not in rejected:
                about = calls.get(message.tool_call_id or "", {"tool": message.function, "call": message.tool_call_id})
                found.append({**_result(message, about), "index": index})
            continue
        text = text_of(_parts(message))
        if text or not isinstance(message, ChatMessageAssistant):
            found.append({"kind": "message", "role": message.role, "index": index, "text": text})
        for call in (message.tool_calls or []) if isinstance(message, ChatMessageAssistant) else []:
            if call.id == before:
                return found
            if call.id not in rejected:
                calls[call.id] = {"tool": call.function, "args": call.arguments, "call": call.id}
                found.append({**_call(call), "index": index})
    return found


def _call(call: ToolCall) -> dict[str, Any]:
    return {"kind": "call", "role": "assistant", "tool": call.function, "args": call.arguments, "call": call.id}


def _result(message: ChatMessageTool, about: dict[str, Any]) -> dict[str, Any]:
    # What the model reads of a call that failed is the message of the error.
    told = _parts(message) if message.error is None else [message.error.message, _parts(message)]
    answer = {"text": text_of(told), "result": message.text, "error": message.error is not None}
    return {"kind": "result", "role": "tool", **about, **answer}


def _parts(message: ChatMessage) -> Any:
    """Return what a message says; what a model thought is not said."""
    if isinstance(message.content, str):
        return message.content
    said = [part for part in message.content if not isinstance(part, ContentReasoning)]
    return parts([part.model_dump(mode="json", exclude_none=True) for part in said])
