package run

import (
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Metrics of the probe of disks, which make up what a neighbour does there.
const (
	ioRead    = "io.read"
	ioWritten = "io.written"
	ioReads   = "io.reads"
	ioWrites  = "io.writes"
)

// neighbourProbes returns the probes that see what a neighbour does.
func neighbourProbes(all []probe.Probe) []probe.Probe {
	var out []probe.Probe
	for _, p := range all {
		for _, m := range p.Metrics() {
			if m.Name == record.NeighbourCPU || m.Name == ioRead {
				out = append(out, p)
			}
		}
	}
	return out
}

// work returns what the neighbour did in a window; every value is missing if seen is nil.
func (n *neighbour) work(seen *wire.NeighbourSample) map[string]record.Value {
	if seen == nil {
		unknown := record.Missing(record.Say("neighbour_unwatched"))
		out := map[string]record.Value{}
		for _, name := range []string{record.NeighbourCPU, record.NeighbourIO, record.NeighbourRequests, record.NeighbourOps} {
			out[name] = unknown
		}
		return out
	}
	v := seen.Probes
	out := map[string]record.Value{
		record.NeighbourCPU: v[record.NeighbourCPU],
		record.NeighbourIO:  sum(v[ioRead], v[ioWritten]), record.NeighbourRequests: sum(v[ioReads], v[ioWrites]),
	}
	if n.planned.Stages.Work.Name == "" {
		out[record.NeighbourOps] = record.Number(float64(seen.Ops))
	}
	return out
}

// sum is missing if a or b is.
func sum(a, b record.Value) record.Value {
	x, ok := a.Get()
	if !ok {
		return a
	}
	y, ok := b.Get()
	if !ok {
		return b
	}
	return record.Number(x + y)
}
