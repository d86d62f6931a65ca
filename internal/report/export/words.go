package export

// Help texts of the metrics in OpenMetrics.
const (
	helpEffect     = "Effect as a ratio: arm over its baseline, 1 is equal."
	helpStep       = "Effect as a ratio: arm over the rung below it on the ladder, 1 is equal."
	helpVerdict    = "1 for the verdict on the effect, 0 for the others."
	helpWithheld   = "1 for an effect whose ratio is unknown or withheld; reason says why."
	helpThroughput = "Operations per second of the arm."
	helpCPUPerOp   = "CPU seconds per operation of the arm."
	helpLatency    = "Quantile of the latencies of the arm."
	helpNoise      = "Far end of the interval of the baseline against itself."
	helpMargin     = "Smallest effect that matters, as asked for."
	helpStarted    = "When the run began, since the Unix epoch."
	helpHost       = "The host of the run; always 1."
)

func helpLow(name string) string { return "Lower end of the 95 % interval of " + name + "." }

func helpHigh(name string) string { return "Upper end of the 95 % interval of " + name + "." }

func helpValue(metric string) string { return "What the load says of the arm: " + metric + "." }
