"""Infers parameters that a paper or a user does not state from a measured table: history matching
in waves.

`infer.toml` next to an experiment names the unknowns and the rows to be met (`spec`, `unknowns`,
`targets`). A design of points is simulated (`sampling`, `bench`), Gaussian processes replace the
simulator (`emulator`), implausible regions are ruled out (`implausibility`, `waves`), the remaining
points get a posterior (`posterior`), and tables that have not been compared yet are predicted
(`predictions`, `page`).

Method: I. Vernon, M. Goldstein, R. Bower, Galaxy formation: a Bayesian uncertainty analysis,
Bayesian Analysis 5(4), 2010 (implausibility, waves); A. Iskauskas et al., Emulation and history
matching using the hmer package, Journal of Statistical Software 109(10), 2024 (the method for
stochastic simulators, with an emulator of the variance); D. Higdon et al., Computer model
calibration using high-dimensional output, JASA 103(482), 2008 (emulated principal components).
"""
