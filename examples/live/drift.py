"""Made-up runs of a mail assistant, of two kinds, for `drift.guard` to learn from.

    python3 drift.py > runs.jsonl
    guard learn drift.guard runs.jsonl -o drift.model.json
"""

import json
import random

READS = [("search_documents", "minutes of the meeting"), ("search_documents", "payroll of the customer"),
         ("search_crm", "customer record"), ("list_files", "src/")]
WRITES = [("write_file", "draft"), ("send_email", "to a colleague")]


def run(category, dice):
    """Sales people read more of what is confidential, and send more."""
    bold = {"sales": 0.45, "research": 0.1}[category]
    events = []
    for _ in range(dice.randint(2, 7)):
        events.append({"kind": "message", "tool": None})
        tool, query = WRITES[dice.random() < bold] if events and dice.random() < bold else dice.choice(READS)
        events.append({"kind": "call", "tool": tool, "args": {"query": query}})
    return {"category": category, "complete": True, "events": events}


if __name__ == "__main__":
    dice = random.Random(11)
    for number in range(400):
        print(json.dumps(run(["sales", "research"][number % 2], dice)))
