"""The queue disciplines a second time: short transcriptions of their published pseudocode.

One file per discipline, named as in the registry, holding

- a class of the same name in capitals (`fq_codel.py`: `class FqCodel`), a `base.Discipline`;
- `CASES`: the parameter sets under which `test_transcriptions.py` compares it with the simulator,
  call by call, on the same arrivals and the same random numbers. The key "trial" is no parameter:
  it holds what else the trial is asked for (line_bits_per_s, packets, flows, load, headers);
- where its trials cannot show an early mark or drop, `NEVER`, which says so;
- where it leaves parameters out, `covers`, which tells the published cases that it can follow.

Files that begin with an underscore hold what several disciplines share (`_red_linux.py`).

They are written from the papers, not from the simulator, and for reading beside them: no speed,
no checks of what a user writes. Where a source leaves a choice open, the simulator's documented
choice (`aqmlab describe NAME`) decides.
"""
