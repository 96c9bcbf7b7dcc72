"""The commands grouped by purpose, and examples of each, for `--help` and for the page of the
documentation that prints it."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "Try": ("lab", "advise", "run", "new", "list"),
    "Look": ("describe", "plot", "report", "compare", "claims", "study"),
    "Make": ("from-tc", "learn", "infer", "check-aqm", "check-cc", "evaluate", "break"),
    "Share": ("export", "reproduce", "flent"),
    "Real stacks": ("live", "shell", "parity"),
    "Expert": ("schema", "bench"),
}
"""Headings and commands, in the order of the help."""
BEGIN = (
    ("aqmlab run example:bufferbloat", "A deep FIFO beside CoDel, compared in two seconds."),
    ("aqmlab new scenario mine.toml --from home-line", "A file of your own to begin with."),
)
"""What a user types first."""
Example = tuple[str, str]
EXAMPLES: dict[str, tuple[Example, Example]] = {
    "lab": (
        ("aqmlab lab", "Two queues side by side in the browser, moving."),
        ("aqmlab lab results --port 8000", "The results of this folder beside them, on port 8000."),
    ),
    "advise": (
        ("aqmlab advise --rate 50/10Mbit/s --access dsl", "A queue for a household on DSL."),
        (
            'aqmlab advise --scenario mine.toml --objective "response_p90_s < 1 s" --target tc',
            "For a line of your own, with a bound, as commands of Linux.",
        ),
    ),
    "run": (
        ("aqmlab run example:red", "A shipped example; `aqmlab list examples` names them."),
        (
            "aqmlab run mine.toml --seeds 10 --set link.0.forward.limit=60 --report",
            "Ten replications of your file with a field changed, and a page of figures.",
        ),
    ),
    "new": (
        ("aqmlab new scenario mine.toml --from home-line", "A scenario to begin with, a copy."),
        ("aqmlab new aqm mine", "A queue discipline of your own in Python (--lang c, rust)."),
    ),
    "list": (
        ("aqmlab list examples", "The examples that come with the package."),
        ("aqmlab list aqm", "Every queue discipline."),
    ),
    "describe": (
        ("aqmlab describe red", "Fields, ranges, defaults and sources of RED."),
        (
            'aqmlab describe fq_codel --rate "20 Mbit/s" --tc',
            "The commands of Linux that make this queue.",
        ),
    ),
    "plot": (
        ("aqmlab plot results/red cdf", "The distribution of response times."),
        ("aqmlab plot results/red trace --out queue.svg", "The course of the queue, as a file."),
    ),
    "report": (
        ("aqmlab report results/red", "report.html of runs that are there already."),
        ("aqmlab report results/tuning-red-quick", "The report of a study, written again."),
    ),
    "compare": (
        ("aqmlab compare results/red ns3.csv", "Their runs, a line each, next to ours."),
        (
            "aqmlab compare results/red q1.txt q2.txt --margin 5%",
            "Two traces of a queue's length, as ns-3's examples write them.",
        ),
    ),
    "claims": (
        ("aqmlab claims --study tuning-red --run", "Run the quick study, and judge its claims."),
        ("aqmlab claims --json", "All verdicts that are there, for a program."),
    ),
    "study": (
        ("aqmlab study tuning-red --quick", "A published study in about two minutes."),
        (
            "aqmlab study harsh-red --part edge-bulk --set link.0.delay=100ms",
            "One part with a field changed, its claims judged anew.",
        ),
    ),
    "from-tc": (
        ("tc -s -d qdisc show | aqmlab from-tc - --out mine.toml", "The queue of this machine."),
        (
            'aqmlab from-tc "qdisc fq_codel 0: root limit 1000p" --rate "20 Mbit/s"',
            "Of a line of text; the scenario is printed.",
        ),
    ),
    "learn": (
        ("aqmlab learn day.pcap --figures", "A traffic model of a capture, with a page of it."),
        ("aqmlab learn day.pcap --inside 10.0.0.0/8", "Which addresses are on our side."),
    ),
    "infer": (
        ("aqmlab infer tuning-red", "What the paper does not say, from its numbers."),
        ("aqmlab infer my-study --full --keep", "Thoroughly, kept in the study's folder."),
    ),
    "check-aqm": (
        ("aqmlab check-aqm mine/mine.py", "The laws that the shipped disciplines obey."),
        ("aqmlab check-aqm ./libmine.so --vectors mine.json", "Also write its test vectors."),
    ),
    "check-cc": (
        ("aqmlab check-cc mine/mine.py", "The laws that the shipped congestion controls obey."),
        ("aqmlab check-cc bbr --json", "One of ours, for a program."),
    ),
    "evaluate": (
        (
            "aqmlab evaluate mine/mine.py",
            "Its score over 1,000 scenarios, beside the best of ours.",
        ),
        ("aqmlab evaluate mine/mine.py --seed 7919 --json", "With a held-out set, for a program."),
    ),
    "break": (
        ("aqmlab break bbr", "A small scenario in which BBR starves a flow or leaves a line idle."),
        (
            'aqmlab break pie --promise "p99 delay < 50 ms" --out weakness.toml',
            "Where a promise of your own is broken, as a file to run.",
        ),
    ),
    "export": (
        ("aqmlab export results/red", "One file, red.aqm, for others."),
        ("aqmlab export results/red --out mine.aqm", "Under another name."),
    ),
    "reproduce": (
        ("aqmlab reproduce red.aqm", "Run it again; say whether the same comes out."),
        ("aqmlab reproduce results/red --json", "A folder of one's own, for a program."),
    ),
    "flent": (
        ("aqmlab flent results/rrul", "Every run of example:rrul as a file for Flent."),
        ("aqmlab flent results/rrul --out /tmp", "In another folder."),
    ),
    "live": (
        ("aqmlab live --check", "What a live run needs, and what is found here."),
        ("sudo aqmlab live example:red --seed 1", "The kernel's TCP through a router of ours."),
    ),
    "shell": (
        ("sudo aqmlab shell example:home-line", "A shell behind that link."),
        ("sudo aqmlab shell mine.toml --users", "With the scenario's users on it as well."),
    ),
    "parity": (
        ("sudo aqmlab parity mine.toml", "Simulated and live, with an equivalence verdict."),
        ("sudo aqmlab parity mine.toml --seeds 5", "Paired by five seeds."),
    ),
    "schema": (
        ("aqmlab schema scenario", "The JSON schema of scenario files, for editors."),
        ("aqmlab schema experiment --path", "Where the schema of experiments lies."),
    ),
    "bench": (
        ("aqmlab bench", "Packets per second and memory on this machine."),
        ("aqmlab bench --scale", "The cost of a packet over decades of sizes."),
    ),
}
"""For every command two examples, each with what it does."""
