package metric

// The metrics that logs of other tools have beside Throughput and Quantile. A reader names the
// unit and the direction of each metric by choosing one of these, or by making its own.
var (
	IOPS      = rate("iops")
	Queries   = rate("queries")
	Bandwidth = Metric{Name: "bandwidth", Unit: "B/s", Better: +1, Label: "bandwidth", Head: "bandwidth"}
	// Time is how long a command takes.
	Time        = Seconds("time")
	LatencyMean = Seconds("latency_mean")
	LatencyMin  = Seconds("min_latency")
	LatencyMax  = Seconds("max_latency")
)

// rate is a number per second of which more is better.
func rate(name string) Metric {
	return Metric{Name: name, Unit: "1/s", Better: +1, Label: name, Head: name}
}

// Seconds is a time of which less is better.
func Seconds(name string) Metric {
	return Metric{Name: name, Unit: "s", Better: -1, Label: name, Head: name}
}

// Share is a part of all operations, 0 to 1, of which less is better.
func Share(name string) Metric {
	return Metric{Name: name, Unit: "ratio", Better: -1, Label: name, Head: name}
}

// Of is the metric of one kind of I/O: Bandwidth.Of("read") is read_bandwidth.
func (m Metric) Of(kind string) Metric {
	m.Name = kind + "_" + m.Name
	m.Label, m.Head = m.Name, m.Name
	return m
}
