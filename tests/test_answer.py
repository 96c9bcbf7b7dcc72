"""The first sentence of a report says what came out, in words with numbers and units."""

from typing import Any

from aqmlab.report import answer, headlines

METRICS = [
    {"name": "queue_delay_mean_s", "title": "Queueing delay", "unit": "ms", "digits": 1},
    {"name": "utilisation", "title": "Utilisation", "unit": "%", "digits": 1},
    {"name": "drop_rate", "title": "Loss", "unit": "%", "digits": 2},
    {"name": "r_mean", "title": "Calls, rating R", "unit": "", "digits": 1},
    {"name": "goodput", "title": "Goodput", "unit": "Mbit/s", "digits": 2},
]


def row(metric: str, ours: float, half: float | None = 0.1, **place: str) -> dict[str, Any]:
    ends = (
        {"low": None, "high": None} if half is None else {"low": ours - half, "high": ours + half}
    )
    return {"metric": metric, "ours": ours, **ends, **place}


def table(name: str, rows: list[dict], keys: list[str], *, paired: bool = False) -> dict[str, Any]:
    return {"id": name, "title": name, "rows": rows, "keys": keys, "paired": paired}


def result(*tables: dict, **more: Any) -> dict[str, Any]:
    return {"tables": list(tables), "metrics": METRICS, "claims": [], **more}


def queues(*rows: dict) -> dict[str, Any]:
    return table("queues", list(rows), ["variant", "queue"])


DELAY = [
    row("queue_delay_mean_s", ms, variant=name, queue=queue)
    for name, queue, ms in (
        ("FIFO", "line.forward", 100.0),
        ("FIFO", "line.reverse", 5.0),
        ("codel", "line.forward", 4.0),
        ("codel", "line.reverse", 5.0),
        ("codel", "router.forward", 1.0),
    )
]


def test_variants_are_compared_by_their_delay_its_cost_and_what_users_get():
    used = row("utilisation", -3.0, 0.5, variant="codel", queue="line.forward")
    calls = [row("r_mean", 40.0, variant="FIFO", group="call")]
    better = [row("r_mean", 45.0, 2.0, variant="codel", group="call")]
    said = answer.of(
        result(
            queues(*DELAY),
            table("queues-differences", [used], ["variant", "queue"], paired=True),
            table("datagrams", calls, ["variant", "group"]),
            table("datagrams-differences", better, ["variant", "group"], paired=True),
        )
    )
    assert said == (
        "Packets wait 100.0 ms with FIFO, 5.0 ms with codel (queues towards the clients); codel "
        "uses the line 3.0 points less; call: calls are rated R 85.0 instead of 40.0."
    )


def test_one_seed_is_reported_as_one():
    used = row("utilisation", -5.0, None, variant="codel", queue="line.forward") | {"n": 1}
    calls = [row("r_mean", 40.0, None, variant="FIFO", group="call")]
    better = [row("r_mean", 45.0, None, variant="codel", group="call") | {"n": 1}]
    said = answer.of(
        result(
            queues(*DELAY),
            table("queues-differences", [used], ["variant", "queue"], paired=True),
            table("datagrams", calls, ["variant", "group"]),
            table("datagrams-differences", better, ["variant", "group"], paired=True),
        )
    )
    assert said is not None
    assert said.endswith(
        "codel uses the line 5.0 points less; call: calls are rated R 85.0 instead of 40.0 (one "
        "seed; --seeds 5 shows what is chance)."
    )


def test_what_chance_may_have_made_is_not_said():
    used = row("utilisation", -3.0, 4.0, variant="codel", queue="line.forward")
    one_seed = row("r_mean", 45.0, None, variant="codel", group="call")
    said = answer.of(
        result(
            queues(*DELAY),
            table("queues-differences", [used], ["variant", "queue"], paired=True),
            table("datagrams-differences", [one_seed], ["variant", "group"], paired=True),
        )
    )
    assert said is not None
    assert said.endswith(
        "codel uses the line as much; what users get does not differ beyond chance."
    )


def test_a_change_that_nobody_notices_is_not_said():
    """Transfers of a fixed length: 30.0 s in place of 30.1 s is a change, and none to its users."""
    calls = [row("r_mean", 90.0, variant="FIFO", group="call")]
    better = [row("r_mean", 0.3, 0.1, variant="codel", group="call")]
    used = row("utilisation", -3.0, 0.5, variant="codel", queue="line.forward")
    rows = table("queues-differences", [used], ["variant", "queue"], paired=True)
    tables = (queues(*DELAY), rows, table("datagrams", calls, ["variant", "group"]))
    paired = table("datagrams-differences", better, ["variant", "group"], paired=True)
    said = answer.of(result(*tables, paired))
    assert said is not None and said.endswith("; what users get does not differ by 2 %.")


def test_one_variant_is_described():
    own = [DELAY[0], row("drop_rate", 2.0, 0.1, variant="FIFO", queue="line.forward")]
    assert answer.of(result(queues(*own))) == (
        "FIFO: packets wait 100.0 [99.9, 100.1] ms on average in line.forward, "
        "2.00 [1.90, 2.10] % of them are lost."
    )


def test_of_many_variants_the_ends_are_named():
    many = [
        row("queue_delay_mean_s", float(ms), variant=f"v{ms}", queue="line.forward")
        for ms in range(9, 2, -1)
    ]
    said = answer.of(result(queues(*many)))
    assert said == (
        "Of 7 variants v3 keeps packets the shortest time, 3.0 ms; v9 the longest, 9.0 ms "
        "(queues towards the clients)."
    )


def test_a_discipline_of_ones_own_is_named_and_ranked():
    delays = {"codel": 10.0, "pie": 15.0, "mine": 14.0, "droptail": 90.0}
    goodputs = {"codel": 9.5, "pie": 9.4, "mine": 9.1, "droptail": 9.6}
    rows = [
        row(metric, value, discipline=name, level="heavy")
        for metric, values in (("queue_delay_mean_s", delays), ("goodput", goodputs))
        for name, value in values.items()
    ]
    said = answer.of(result(table("Congestion", rows, ["discipline", "level"]), own=["mine"]))
    assert said == (
        "mine (Congestion, heavy): Queueing delay 14.0 ms, number 2 of 4 (codel 10.0 ms, median "
        "15.0 ms); Goodput 9.10 Mbit/s, number 4 of 4 (droptail 9.60 Mbit/s, median 9.40 Mbit/s)."
    )


def test_a_study_says_which_claims_decide_with_their_numbers():
    deciding = {"text": "RED minus FIFO", "estimate": 12.34, "interval": [10.0, 14.7], "unit": "ms"}
    claims = [
        {"verdict": "inconclusive", "claim": "Open.", "deciding": deciding},
        {"verdict": "holds", "claim": "RED is slower.", "deciding": deciding},
        {"verdict": "does not hold", "claim": "All is well.", "deciding": deciding},
    ]
    said = answer.of(result() | {"claims": claims})
    assert said == (
        "Holds here: RED is slower (RED minus FIFO: 12.3 [10.0, 14.7] ms). "
        "Does not hold: All is well (RED minus FIFO: 12.3 [10.0, 14.7] ms)."
    )
    assert answer.of(result()) is None


def test_a_difference_that_is_none_at_its_digits_is_no_finding():
    from aqmlab.report import headlines

    def row(queue, ours, low, high):
        return {"queue": queue, "metric": "d", "ours": ours, "low": low, "high": high}

    table = {
        "paired": True,
        "headline": ["d"],
        "keys": ["queue"],
        "title": "Queues: difference from FIFO",
        "rows": [row("forward", -36.5, None, None), row("reverse", 0.0001, None, None)],
    }
    result = {
        "metrics": [{"name": "d", "title": "Queueing delay", "unit": "ms", "digits": 1}],
        "tables": [table],
    }
    assert headlines._paired(result) == [
        "Queues: difference from FIFO, Queueing delay in ms: forward: −36.5."
    ]


def chosen(**verdicts: str) -> dict[str, Any]:
    deciding = {"text": "share", "estimate": 0.05, "interval": None, "unit": ""}
    claims = [
        {
            "id": name,
            "verdict": verdict.replace("_", " "),
            "claim": f"{name} is so.",
            "kind": "ours",
        }
        | {"deciding": deciding}
        for name, verdict in verdicts.items()
    ]
    return result() | {"claims": claims}


def test_a_study_may_name_the_claims_that_answer_its_question():
    study = chosen(A="holds", B="does_not_hold", C="inconclusive", D="holds")
    assert answer.of(study | {"answer": ["D", "B", "C", "E"]}) == (
        "D is so (share: 0.0500). Does not hold: B is so (share: 0.0500). Open: C is so (share: "
        "0.0500)."
    )


def test_advice_needs_its_claims():
    advice = {"text": "Take a longer step.", "needs": ["A", "B"]}

    def said(**verdicts: str) -> list[str]:
        found = headlines.of({**chosen(**verdicts), "advice": advice, "calibrations": []})
        return [line for line in found if "dvice" in line]

    assert said(A="holds", B="holds") == ["Advice: Take a longer step."]
    assert said(A="holds", B="inconclusive") == [
        "The advice of this study does not follow from these runs: B (inconclusive)."
    ]
    assert said(A="holds") == []
