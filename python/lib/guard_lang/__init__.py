"""Guard: state what agents must never do, and find where they did.

>>> import guard_lang as guard
>>> spec = guard.Spec.from_source('''
... event { tool: string }
... property no_mail = never (tool == "mail")
... ''')
>>> report = spec.audit([{"id": "t1", "events": [{"tool": "search"}, {"tool": "mail"}]}])
>>> [(verdict.trace, verdict.property, verdict.at) for verdict in report.violations]
[('t1', 'no_mail', 1)]
"""

from ._errors import (
    Denied,
    Diagnostic,
    GuardError,
    InputError,
    LoadError,
    ModelError,
    MonitorError,
    QueryError,
    SpecError,
)
from ._guard import Decision
from ._live import Monitor, Session
from ._report import Problem, Report, Summary, Table, Trace, Verdict
from ._spec import Answer, Model, Property, Spec
from ._text import text_of

__all__ = [
    "Answer",
    "Decision",
    "Denied",
    "Diagnostic",
    "GuardError",
    "InputError",
    "LoadError",
    "Model",
    "ModelError",
    "Monitor",
    "MonitorError",
    "Problem",
    "Property",
    "QueryError",
    "Report",
    "Session",
    "Spec",
    "SpecError",
    "Summary",
    "Table",
    "Trace",
    "Verdict",
    "text_of",
]
