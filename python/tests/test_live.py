from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import guard_lang as guard

from .conftest import LIVE, Run


@pytest.fixture
def live() -> Iterator[guard.Monitor]:
    with guard.Spec.from_source(LIVE).monitor() as monitor:
        yield monitor


def call(tool: str, trace: str = "t", **args: Any) -> dict[str, Any]:
    return {"trace": trace, "kind": "call", "tool": tool, "args": args}


def test_a_proposal_is_decided_committed_and_abandoned(live: guard.Monitor) -> None:
    denied = live.propose(call("pay"))
    assert (denied.ruling, denied.allowed, denied.denied, denied.asks, denied.trace) == ("block", False, True, False, "t")
    assert denied.reason.startswith("pay needs an approval in the step before")
    with pytest.raises(guard.MonitorError):
        denied.commit()
    live.observe({"trace": "t", "kind": "approval"})
    allowed = live.propose(call("pay"))
    assert (allowed.allowed, allowed.step, allowed.errors) == (True, 1, [])
    assert allowed.abandon().allowed
    again = live.propose(call("pay"))
    assert again.commit().ruling == "allow"
    assert ("approved", "presumably_satisfied") in again.verdicts
    assert json.loads(again.json())["decision"] == "allow"
    # The approval was used up.
    assert live.act(call("pay")).denied


def test_open_proposals_count_together(live: guard.Monitor) -> None:
    first, second, third = (live.propose(call("refund")) for _ in range(3))
    assert (first.allowed, second.allowed, third.denied) == (True, True, True)
    first.abandon()
    assert live.propose(call("refund")).allowed


def test_what_cannot_be_judged_is_denied_or_raises(live: guard.Monitor) -> None:
    assert live.act({"trace": "t", "kind": 7, "tool": "pay"}).denied
    assert live.act({"trace": "t", "kind": "call", "tool": float("nan")}).denied
    for wrong in ({"kind": b"x"}, {1: 2}, ["kind"], "kind", None):
        with pytest.raises((TypeError, ValueError)):
            live.act(wrong)  # type: ignore[arg-type]


def test_events_of_several_lines_stay_one_event(live: guard.Monitor) -> None:
    assert live.act(call("note", text="a\nb\u2028\r\n{}")).allowed


def test_a_guarded_tool_raises_and_does_not_run(live: guard.Monitor) -> None:
    ran: list[tuple[int, int]] = []

    @live.guard
    def pay(amount: int, *, fee: int = 1) -> int:
        """Pays."""
        ran.append((amount, fee))
        return amount + fee

    assert (pay.__name__, pay.__doc__) == ("pay", "Pays.")
    with live.session("t") as session:
        with pytest.raises(guard.Denied, match="needs an approval") as raised:
            pay(20)
        assert raised.value.decision is not None
        assert raised.value.decision.ruling == "block"
        session.report(session.event("approval"))
        assert pay(20) == 21
    assert ran == [(20, 1)]
    with live.session("u"), pytest.raises(guard.Denied):
        pay(20)


def test_a_renamed_tool_and_extra_arguments() -> None:
    spec = guard.Spec.from_source(
        "event { kind: string tool: string? args: json? }\n"
        'property p = never (kind == "call" and tool == "x" and args.b == 2 and args.a == 1)\n'
        'enforce p { violated => block "no" }\n'
    )
    live = spec.monitor()

    @live.guard(name="x")
    def tool(a: int, **more: int) -> str:
        return "ran"

    assert tool(1, b=3) == "ran"
    with pytest.raises(guard.Denied):
        tool(1, b=2)


def test_two_arguments_of_one_name_are_refused(live: guard.Monitor) -> None:
    @live.guard
    def look(path: str, /, **more: str) -> str:
        return f"{path} {more}"

    assert look("a", other="b") == "a {'other': 'b'}"
    # Only one of them would be judged.
    with pytest.raises(TypeError, match="'path'"):
        look("a", path="b")


def test_generators_are_refused(live: guard.Monitor) -> None:
    def stream() -> Iterator[int]:
        yield 1

    async def later() -> AsyncIterator[int]:
        yield 1

    for tool in (stream, later):
        with pytest.raises(TypeError, match="generator"):
            live.guard(tool)


def test_a_result_is_withheld_and_an_error_is_recorded(live: guard.Monitor) -> None:
    session = live.session()
    with pytest.raises(guard.Denied, match="the result holds a secret"):
        session.call("read", {}, lambda: "a SECRET")
    session = live.session("errors")
    with pytest.raises(ZeroDivisionError):
        session.call("divide", {}, lambda: 1 / 0)
    # A result without a JSON form is recorded as unknown, so that whether it is secret is open: it is withheld.
    with pytest.raises(guard.Denied):
        session.call("read", {}, object, outcome=lambda result: {"result": result, "text": result})


def test_a_person_decides_and_only_true_allows() -> None:
    spec = guard.Spec.from_source(LIVE)
    asked: list[str] = []

    def answers(answer: object) -> Any:
        def ask(decision: guard.Decision) -> Any:
            asked.append(decision.reason)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return ask

    def transfer(ask: Any) -> str:
        done: str = spec.monitor(ask=ask).session().call("transfer", {"amount": 7}, lambda: "sent")
        return done

    assert transfer(answers(True)) == "sent"
    assert asked[0].startswith("transfer 7?")
    for answer in (False, None, 1, "yes"):
        with pytest.raises(guard.Denied):
            transfer(answers(answer))
    with pytest.raises(KeyError):
        transfer(answers(KeyError("x")))
    with pytest.raises(guard.Denied):
        spec.monitor().session().call("transfer", {"amount": 7}, lambda: "sent")

    async def later(decision: guard.Decision) -> bool:
        return True

    with pytest.raises(guard.Denied, match="cannot be awaited"):
        transfer(later)


def test_what_comes_up_while_a_person_is_asked_denies() -> None:
    spec = guard.Spec.from_source(
        'use std.agent\npredicate mails = kind == "call" and tool == "mail"\n'
        'property leak = G (mails -> not once tool == "secret")\n'
        'enforce leak { violated => ask "a secret was read" }\nenforce when mails => ask "mail?"\n'
    )

    def mail(between: str) -> Any:
        def ask(decision: guard.Decision) -> bool:
            monitor.observe({"trace": decision.trace, "kind": "call", "tool": between})
            return True

        monitor = spec.monitor(ask=ask)
        return monitor.session().call("mail", {}, lambda: "sent")

    assert mail("list") == "sent"
    with pytest.raises(guard.Denied, match="a secret was read"):
        mail("secret")


def test_asynchronous_tools(live: guard.Monitor) -> None:
    spec = guard.Spec.from_source(LIVE)

    async def ask(decision: guard.Decision) -> bool:
        await asyncio.sleep(0)
        return True

    async def never(decision: guard.Decision) -> bool:
        raise TimeoutError

    async def main() -> None:
        monitor = spec.monitor(ask=ask)

        @monitor.guard
        async def transfer(amount: int) -> str:
            await asyncio.sleep(0)
            return f"sent {amount}"

        @monitor.guard
        async def pay() -> None:
            raise AssertionError("ran")

        async def run(trace: str) -> None:
            with monitor.session(trace):
                assert await transfer(7) == "sent 7"
                with pytest.raises(guard.Denied):
                    await pay()

        # Tasks at the same time, each in a session of its own.
        await asyncio.gather(*(run(f"t{number}") for number in range(20)))
        session = spec.monitor(ask=never).session()

        async def sent() -> str:
            raise AssertionError("ran")

        with pytest.raises(TimeoutError):
            await session.acall("transfer", {"amount": 1}, sent)

    asyncio.run(main())


def test_threads_share_a_limit(live: guard.Monitor) -> None:
    made: list[int] = []
    session, start = live.session("t"), threading.Barrier(8)

    def refund(number: int) -> None:
        start.wait()
        with contextlib.suppress(guard.Denied):
            session.call("refund", {}, lambda: made.append(number))

    threads = [threading.Thread(target=refund, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2


def test_a_journal_survives_the_process(tmp_path: Path, guard_: Run) -> None:
    (tmp_path / "live.guard").write_text(LIVE)
    spec = guard.Spec.from_file(tmp_path / "live.guard")
    files: dict[str, Any] = {"journal": tmp_path / "run.wal", "snapshot": tmp_path / "state", "log": tmp_path / "log"}
    first = spec.monitor(journal=files["journal"], log=files["log"])
    assert not first.resumed
    first.observe({"trace": "t", "kind": "approval"})
    with pytest.raises(guard.MonitorError, match="in use by another monitor"):
        spec.monitor(journal=files["journal"], log=files["log"])
    # No close: the process could have been killed.
    del first
    second = spec.monitor(**files)
    assert second.resumed
    assert second.act(call("pay")).allowed
    second.close()
    with pytest.raises(guard.MonitorError, match="closed"):
        second.act(call("pay"))
    third = spec.monitor(**files)
    assert third.act(call("pay")).denied
    third.close()
    assert guard_("monitor", tmp_path / "live.guard", "--verify-log", files["log"]).returncode == 0
    other = guard.Spec.from_source(LIVE + "\nconst ANOTHER = 1\n")
    with pytest.raises(guard.MonitorError):
        other.monitor(**files)


def test_a_key_that_others_can_read_is_refused_unless_that_is_allowed(tmp_path: Path) -> None:
    # An Ed25519 key as PKCS #8, of the bytes 0 to 31.
    der = bytes.fromhex("302e020100300506032b657004220420") + bytes(range(32))
    key = tmp_path / "log.pem"
    key.write_text(f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END PRIVATE KEY-----\n")
    key.chmod(0o644)
    spec = guard.Spec.from_source(LIVE)
    with pytest.raises(guard.MonitorError, match="others can read the file"):
        spec.monitor(log=tmp_path / "log", key=key)
    spec.monitor(log=tmp_path / "log", key=key, allow_readable_secrets=True).close()
    key.chmod(0o622)
    with pytest.raises(guard.MonitorError, match="others can write the file"):
        spec.monitor(log=tmp_path / "log", key=key, allow_readable_secrets=True)


def test_a_decision_that_cannot_be_kept_is_no_approval(tmp_path: Path) -> None:
    ran: list[int] = []
    spec = guard.Spec.from_source(LIVE)
    with pytest.raises(guard.MonitorError):
        spec.monitor(journal=tmp_path / "no" / "folder")
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with pytest.raises((guard.MonitorError, OSError)):
        spec.monitor(journal="/dev/full").session().call("note", {}, lambda: ran.append(1))
    assert ran == []


def test_the_end_of_a_trace_tells_what_is_owed() -> None:
    spec = guard.Spec.from_source(
        'event { kind: string }\nrule answered: when kind == "ask" then kind == "answer" within 5 steps or end\n'
        'enforce answered { violated => block "unanswered" }\n'
    )
    live = spec.monitor()
    live.observe({"trace": "t", "kind": "ask"})
    ended = live.end("t")
    assert ended.ruling == "allow" or ended.denied
    assert live.tick() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_makes_its_own_monitor(tmp_path: Path) -> None:
    spec = guard.Spec.from_source(LIVE)
    live = spec.monitor(journal=tmp_path / "run.wal")
    live.observe({"trace": "t", "kind": "approval"})
    written = (tmp_path / "run.wal").read_bytes()
    child = os.fork()
    if child == 0:
        try:
            live.act(call("pay"))
        except guard.MonitorError as error:
            live.close()
            fine = "process" in str(error) and spec.monitor().act(call("pay")).denied
            os._exit(0 if fine else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "run.wal").read_bytes() == written
    assert live.act(call("pay")).allowed


def test_a_state_goes_to_another_monitor(tmp_path: Path) -> None:
    spec = guard.Spec.from_source(LIVE)
    one, other = spec.monitor(clock="none"), spec.monitor(clock="none")
    empty = one.state()
    for _ in range(2):
        assert one.act(call("refund")).allowed
    pending = one.propose(call("note"))
    other.restore(one.state())
    assert other.state() == one.state() != empty
    assert other.act(call("refund")).denied
    assert pending.proposal is not None
    assert other.commit(pending.proposal, call("note")).step == 2
    other.restore(empty)
    assert other.act(call("refund")).step == 0
    kept = other.state()
    for bad, why in [(b"", "not a monitor state"), (empty[:-1] + b"?", "damaged"), (empty[:40], "not a monitor state")]:
        with pytest.raises(guard.MonitorError, match=why):
            other.restore(bad)
    with pytest.raises(guard.MonitorError, match="another spec"):
        guard.Spec.from_source(LIVE + "\nconst CHANGED = 1\n").monitor().restore(empty)
    assert other.state() == kept
    with spec.monitor(journal=tmp_path / "run.wal") as durable:
        for wrong in (durable.state, lambda: durable.restore(empty)):
            with pytest.raises(guard.MonitorError, match="in these files"):
                wrong()
