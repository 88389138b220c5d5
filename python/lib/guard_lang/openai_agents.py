"""OpenAI Agents SDK: function tools are judged before they run. Requires `openai-agents` 0.24 or later.

agent = Agent(name="shop", tools=guard_tools(spec.monitor(), [look_up, refund]))
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext

from ._errors import Denied
from ._live import Monitor, Session
from ._text import text_of


def guard_tools(guard: Monitor | Session, tools: Iterable[Any]) -> list[FunctionTool]:
    """Return tools that ask the guard before they run. A denial is what the tool returns, so the model reads the reason.

    With a monitor, calls belong to the session of the `with` block around the run. The SDK turns an exception of a tool into
    a text unless the tool was made with `failure_error_function=None`, so that `error` of a result is null: a rule that asks
    for a success (`error == false`) denies.

    Raises `TypeError` for tools that do not run in this process, such as a hosted web search: they cannot be judged before.
    """
    return [_guarded(guard, tool) for tool in tools]


def _guarded(guard: Monitor | Session, tool: Any) -> FunctionTool:
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"{type(tool).__name__} is not a function tool: its calls cannot be judged before they run")
    guarded = copy.copy(tool)

    async def invoke(context: ToolContext[Any], text: str) -> Any:
        session = guard if isinstance(guard, Session) else guard.current()
        try:
            args = json.loads(text) if text else {}
            return await session.acall(
                tool.name, args, lambda: tool.on_invoke_tool(context, text), context.tool_call_id, _outcome
            )
        except Denied as denied:
            return f"denied: {denied}"

    guarded.on_invoke_tool = invoke
    return guarded


def _outcome(result: Any) -> dict[str, Any]:
    return {"result": result, "text": text_of(result), "error": None}
