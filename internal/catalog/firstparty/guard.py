"""Stops tool calls whose arguments would destroy a lot at once.

Reads the event from standard input and prints a decision. It looks at every
text in the arguments, however deep, since commands hide in many places.
"""
import json
import re
import sys

DANGEROUS = [
    (r"\brm\s+(-[a-z]*\s+)*-[a-z]*(r[a-z]*f|f[a-z]*r)[a-z]*\s+(/|~|\$HOME)(\s|$|\*)", "deletes a whole file system or home folder"),
    (r"\bmkfs(\.\w+)?\s+/dev/", "formats a disk"),
    (r"\bdd\b.*\bof=/dev/(sd|nvme|vd|xvd)", "overwrites a disk"),
    (r"\b(drop|truncate)\s+(database|schema|table)\b", "drops or empties a table"),
    (r"\bdelete\s+from\s+[\w.\"]+\s*(;|$)", "deletes every row of a table"),
    (r"\bgit\s+push\b.*(\s--force\b(?!-with-lease)|\s-f\b)", "overwrites the history of a shared branch"),
    (r"\bkubectl\s+delete\s+(ns|namespace)\b", "deletes a namespace with everything in it"),
    (r"\bterraform\s+destroy\b", "destroys infrastructure"),
]


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def main():
    event = json.load(sys.stdin)
    for text in texts(event.get("arguments", {})):
        for pattern, what in DANGEROUS:
            if re.search(pattern, text, re.IGNORECASE):
                print(json.dumps({"decision": "deny", "reason": f"This call {what}. A person should do it by hand."}))
                return
    print(json.dumps({"decision": "allow"}))


main()
