package probe

import "github.com/tarelab/tare/internal/linux/proc"

// faults observes the page faults of the arm's processes, with their ended threads. It reads
// /proc/PID/stat in every arm, so that arms with and without a memory group can be compared.
type faults struct{}

func (faults) Name() string { return "page faults" }

func (faults) Metrics() []Metric {
	return []Metric{
		{Name: "faults.minor", Unit: "1", PerOp: true, Help: helpFaultsMinor},
		{Name: "faults.major", Unit: "1", PerOp: true, Help: helpFaultsMajor},
	}
}

func (faults) Open(t Target) (Reader, error) {
	m, err := processes(t)
	if err != nil {
		return nil, err
	}
	return &follow{root: proc.FS(t.Root), members: m, file: "stat", width: 2, parse: pageFaults}, nil
}

func pageFaults(_ int, text []byte, dst []float64) error {
	var all [proc.NumProcessStat]float64
	err := proc.ProcessStat(text, all[:])
	dst[0], dst[1] = all[proc.MinorFaults], all[proc.MajorFaults]
	return err
}
