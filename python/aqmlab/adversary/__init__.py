"""An adversary: it looks for the scenario in which a queue or congestion control breaks a
promise."""
