"""LangChain and LangGraph: tool calls are judged before they run. Requires `langchain` 1 or `langgraph` 1.

agent = create_agent(model, tools, middleware=[GuardMiddleware(spec.monitor())])
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable
from typing import Any, Callable

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage

from ._errors import Denied
from ._live import Monitor, Session
from ._text import parts, text_of


class GuardMiddleware(AgentMiddleware[Any, Any]):
    """Judges each tool call of an agent. What is denied is answered with the reason, as a message of status `error`.

    With a monitor, each thread id of the configuration is a trace of its own; runs without one belong to the current session.
    `wrap_tool_call` and `awrap_tool_call` also fit the arguments of LangGraph's `ToolNode`.
    """

    def __init__(self, guard: Monitor | Session) -> None:
        """Take the monitor, or the session of one run."""
        super().__init__()
        self._guard = guard
        self._sessions: dict[str, Session] = {}
        self._opening = threading.Lock()

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a call through the guard."""
        call = request.tool_call
        session = self._session(request)
        try:
            return session.call(call["name"], call["args"], lambda: handler(request), call["id"], _outcome)
        except Denied as denied:
            return _message(call, denied)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run a call of an asynchronous agent through the guard."""
        call = request.tool_call
        session = self._session(request)
        try:
            return await session.acall(call["name"], call["args"], lambda: handler(request), call["id"], _outcome)
        except Denied as denied:
            return _message(call, denied)

    def _session(self, request: Any) -> Session:
        if isinstance(self._guard, Session):
            return self._guard
        config = getattr(request.runtime, "config", None) or {}
        thread = (config.get("configurable") or {}).get("thread_id")
        if thread is None:
            return self._guard.current()
        with self._opening:
            name = str(thread)
            if name not in self._sessions:
                self._sessions[name] = self._guard.session(name)
            return self._sessions[name]


def _outcome(answer: Any) -> dict[str, Any]:
    """Tell what a tool answered. Of a command for the graph, or anything else, nothing is known."""
    if not isinstance(answer, ToolMessage):
        return {}
    return {"result": answer.content, "text": text_of(parts(answer.content)), "error": answer.status == "error"}


def _message(call: dict[str, Any], denied: Denied) -> ToolMessage:
    return ToolMessage(content=str(denied), tool_call_id=call["id"], name=call["name"], status="error")
