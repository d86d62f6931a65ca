package export

// Columns are the columns of CSV, in order.
func Columns() []Column {
	const typical, total, own = "typical ratio of arm to baseline: a robust mean", "ratio of the sums over all windows, stalls included",
		"typical ratio, its interval before the correction for many arms"
	const low, high = "lower end of its 95 % interval", "upper end of its 95 % interval"
	return []Column{
		{"kind", "`effect` (against the baseline), `step` (against the layer below), `remainder` (the real container against the top layer), " +
			"`option` (against another arm), `twin` (the baseline again); of a neighbour's table `regained` (typical columns: the share of the loss) and " +
			"`neighbour` (total columns: its work over that without isolation)"},
		{"workload", "the load"},
		{"metric", "the metric: `throughput`, `p99` ..."},
		{"unit", "base unit of the two values: `1/s`, `s`, `B/s`, `ratio` ..."},
		{"arm", "what is compared"},
		{"baseline", "with what"},
		{"arm_value", "mean of the metric over all windows of the arm"},
		{"baseline_value", "the same of the baseline"},
		{"typical_ratio", typical},
		{"typical_low", low + ", corrected for all arms"},
		{"typical_high", high + ", corrected for all arms"},
		{"total_ratio", total},
		{"total_low", low},
		{"total_high", high},
		{"own_ratio", own},
		{"own_low", low},
		{"own_high", high},
		{"verdict", "`slower`, `faster`, `no_loss`, `no_difference`, `undecided` or `invalid`; of CPU time per operation also `more_cpu` and `less_cpu`"},
		{"reason", "why undecided, invalid or empty"},
		{"exploratory", "true: a metric other than the primary one (false discovery rate 10 %)"},
		{"p_value", "of the typical ratio"},
		{"p_adjusted", "the same, corrected for all arms"},
		{"blocks", "number of blocks"},
		{"generations", "launches of the one of the two arms that has fewer"},
		{"detectable", "smallest effect that is found with 80 % power, as a ratio: 0.014 is 1.4 %"},
		{"needed_seconds", "more seconds of measuring that would decide; 0: decided"},
		{"slow_windows", "share of windows slower than the typical ratio by more than the twin's noise"},
		{"intermittent", "true: the loss comes in bursts"},
		{"unequal", "how the durability of the two arms differs; empty: it does not"},
		{"seed", "seed of the run"},
		{"observed_ratio", "of imported figures: ratio of the tools' own numbers, without an interval"},
		{"bound_low", "least ratio that typical ratio, total and dropped windows allow"},
		{"bound_high", "largest ratio that they allow"},
		{"at_most", "largest loss that they allow, as a ratio (of `no_difference` the largest difference); empty: none, or unknown"},
	}
}
