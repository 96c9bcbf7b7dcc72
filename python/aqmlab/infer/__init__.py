"""What a paper or a user did not say, found from a measured table: history matching in waves.

`infer.toml` next to an experiment names the unknowns and the rows to be met (`spec`, `unknowns`,
`targets`). A design of points is simulated (`design`, `bench`), Gaussian processes stand for the
simulator (`emulator`), what they rule out is left (`implausibility`, `waves`), what remains is
weighed (`posterior`), and what it means for tables that have not been compared yet is written down
(`predictions`, `report`).

Method: I. Vernon, M. Goldstein, R. Bower, Galaxy formation: a Bayesian uncertainty analysis,
Bayesian Analysis 5(4), 2010 (implausibility, waves); A. Iskauskas et al., Emulation and history
matching using the hmer package, Journal of Statistical Software 109(10), 2024 (the method for
stochastic simulators, with an emulator of the variance); D. Higdon et al., Computer model
calibration using high-dimensional output, JASA 103(482), 2008 (emulated principal components).
"""
