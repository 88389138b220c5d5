"""Plain Python: every tool call of a loop goes through the guard."""

import sys

from guard_client import Denied, Guard

TOOLS = {
    "look_up": lambda order: f"order {order}: 20 EUR",
    "refund": lambda order: f"refunded {order}",
}

# what a model would ask for
WANTED = [("refund", {"order": 7}), ("look_up", {"order": 7}), ("refund", {"order": 7}), ("refund", {"order": 8})]


def main(address):
    guard = Guard("plain", address)
    for number, (tool, args) in enumerate(WANTED):
        try:
            print(tool, guard.call(tool, args, f"c{number}", lambda: TOOLS[tool](**args)))
        except Denied as reason:
            print(tool, "denied:", reason)
    guard.end()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7437")
