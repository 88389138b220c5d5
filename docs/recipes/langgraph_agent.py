"""LangChain and LangGraph: a middleware that asks the guard around every tool call."""

import sys

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from guard_client import Denied, Guard, text_of


class GuardMiddleware(AgentMiddleware):
    def __init__(self, guard):
        super().__init__()
        self.guard = guard

    def wrap_tool_call(self, request, handler):
        call = request.tool_call
        try:
            return self.guard.call(call["name"], call["args"], call["id"], lambda: handler(request), outcome)
        # the call was denied, or its outcome is withheld
        except Denied as reason:
            return ToolMessage(content=str(reason), tool_call_id=call["id"], name=call["name"], status="error")


def outcome(answer):
    """The members that record what a tool answered. Of a `Command` for the graph, nothing is known."""
    if not isinstance(answer, ToolMessage):
        return {}
    return {"result": answer.content, "text": text_of(answer.content), "error": answer.status == "error"}


@tool
def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}: 20 EUR"


@tool
def refund(order: int) -> str:
    """Refund an order."""
    return f"refunded {order}"


class Scripted(GenericFakeChatModel):
    """Stands in for a model: says what it is told to, whatever it is asked."""

    def bind_tools(self, tools, **kwargs):
        return self


def wants(number, name, order):
    return AIMessage("", tool_calls=[{"name": name, "args": {"order": order}, "id": f"c{number}", "type": "tool_call"}])


def main(address):
    script = [wants(0, "refund", 7), wants(1, "look_up", 7), wants(2, "refund", 7), AIMessage("done")]
    model = Scripted(messages=iter(script))
    agent = create_agent(model, [look_up, refund], middleware=[GuardMiddleware(Guard("langgraph", address))])
    final = agent.invoke({"messages": [{"role": "user", "content": "refund order 7"}]})
    for message in final["messages"]:
        if isinstance(message, ToolMessage):
            print(message.name, "denied:" if message.status == "error" else "->", message.content)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7437")
