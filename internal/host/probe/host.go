package probe

import (
	"errors"
	"math"
	"path/filepath"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// host observes what others take from the arm: CPU time that the hypervisor gave to another
// machine (steal), and foreign CPU time of this host, which is not the arm's, its neighbour's
// or tare's own. A hypervisor that does not report stolen time reports zero.
type host struct{}

func (host) Name() string { return "host" }

func (host) Metrics() []Metric {
	return []Metric{
		{Name: "cpu.steal", Unit: "s", Help: helpCPUSteal},
		{Name: "cpu.foreign", Unit: "s", Help: helpCPUForeign},
	}
}

func (host) Open(t Target) (Reader, error) {
	if !t.Host {
		return nil, t.notHost()
	}
	stat, err := openFiles(source{paths: []string{proc.FS(t.Root).Path("proc/stat")}, parse: stealAndBusy, names: []string{"steal", "busy"}})
	if err != nil {
		return nil, err
	}
	cpus, err := proc.FS(t.Root).OnlineCPUs()
	if err != nil {
		return nil, errors.Join(err, stat.Close())
	}
	h := &hostReader{stat: stat, self: processSelf(t), behind: behind(cpus)}
	h.own, h.ownWhy = openOwn(t)
	h.all = openAllCPU(t.Group)
	return h, nil
}

func stealAndBusy(text []byte, dst []float64) error {
	c, err := proc.AllCPUs(text)
	if err != nil {
		return err
	}
	dst[0], dst[1] = c.Steal, c.Busy()
	return nil
}

// processSelf returns tare's own CPU time in s; 0 in a fixture tree.
func processSelf(t Target) func() float64 {
	if t.Root != "/" {
		return func() float64 { return 0 }
	}
	return func() float64 { return float64(sched.ProcessCPU()) * 1e-9 }
}

// openOwn opens the CPU time of the arm and its neighbour, from their groups or from the arm's
// processes.
func openOwn(t Target) (Reader, error) {
	all := newSum(1)
	for _, g := range []cgroup.Group{t.Group, t.Outside, t.Neighbour} {
		s := groupCPU(g)
		if s == nil {
			continue
		}
		one, err := openFiles(s[0])
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all.parts = append(all.parts, one)
	}
	if len(all.parts) == 0 {
		return processCPU(t)
	}
	if len(t.Forwarders) > 0 {
		one, err := processCPU(Target{Root: t.Root, Pids: t.Forwarders})
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all.parts = append(all.parts, one)
	}
	return all, nil
}

// openAllCPU opens cpuacct.usage of the root group of version 1: the CPU time of the whole host
// in ns, where /proc/stat has steps of 10 ms. nil: there is no such group, or the mount shows
// another group than the host's root.
func openAllCPU(g cgroup.Group) files {
	if g.Tree == nil || g.Tree.V1["cpuacct"] == "" {
		return nil
	}
	root := g.Tree.V1["cpuacct"]
	if !exists(filepath.Join(root, "release_agent")) { // the kernel has this file in the real root only
		return nil
	}
	f, err := openFiles(source{paths: []string{filepath.Join(root, "cpuacct.usage")}, parse: single(1e-9), names: []string{"number"}})
	if err != nil {
		return nil
	}
	return f
}

type hostReader struct {
	noEdges
	stat    files
	all     files  // nil: the host's CPU time is read from stat
	own     Reader // CPU time of the arm and its neighbour; nil where ownWhy is set
	ownWhy  error
	self    func() float64
	foreign float64 // largest result so far
	behind  float64 // how far below foreign a result may be
	why     record.Said
	scratch []float64
}

// behind is how far the foreign time may run backwards on a host with that many CPUs, in s. Its parts are read
// one after the other, and each lags by up to a tick for each CPU: a tick of the kernel, which is 10 ms with
// HZ 100, and one of /proc/stat, which is 10 ms always.
func behind(cpus int) float64 { return max(1, 2*longestTick*float64(cpus)) }

const longestTick = 0.01

// Read reads tare's own time first and the host's last, so that CPU time between the readings
// counts as foreign and never as negative. A part that lags can still make the difference run
// backwards; then the result stays as it was, and the next window gets what this one misses.
func (h *hostReader) Read(dst []float64) []float64 {
	if h.ownWhy != nil {
		s := h.stat.Read(h.scratch[:0])
		h.scratch, h.why = s, whyOf(h.ownWhy)
		return append(dst, s[0], math.NaN())
	}
	self := h.self()
	s := h.own.Read(h.scratch[:0])
	own := len(s) // cpu.time is the first number of every own reader
	s = h.stat.Read(s)
	busy := s[own+1]
	if h.all != nil {
		s = h.all.Read(s)
		busy = s[own+2]
	}
	h.scratch = s
	return append(dst, s[own], h.rest(busy, s[0], self))
}

// rest is the foreign CPU time in s.
func (h *hostReader) rest(busy, own, self float64) float64 {
	x := busy - own - self
	switch {
	case math.IsNaN(own):
		h.why = record.Say("no_time_of_arm", "why", h.own.Reason(0))
	case math.IsNaN(busy):
		h.why = record.Say("no_time_of_host", "why", h.stat.Reason(1))
	case x < h.foreign-h.behind:
		h.why = moreThanHost
	default:
		h.foreign = max(h.foreign, x)
		return h.foreign
	}
	return math.NaN()
}

func (h *hostReader) Reason(i int) record.Said {
	if i == 0 {
		return h.stat.Reason(0)
	}
	return h.why
}

func (h *hostReader) Close() error {
	errs := []error{h.stat.Close(), h.all.Close()}
	if h.ownWhy == nil {
		errs = append(errs, h.own.Close())
		h.ownWhy = errors.New("closed")
	}
	return errors.Join(errs...)
}
