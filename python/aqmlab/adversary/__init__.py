"""An adversary that searches for a scenario in which a queue discipline or congestion control
breaks a promise: a bound on a measure."""
