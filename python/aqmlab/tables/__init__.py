"""From runs to numbers: statistics, means and intervals over seeds, paired differences, tables."""
