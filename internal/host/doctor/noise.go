package doctor

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// Noise is the noise of this host, measured by one thread in a few seconds: the variation of the
// same work in short slices, and the delay of wake-ups. It misses slow noise, such as CPU credits
// of a cloud or periodic jobs of another tenant.
type Noise struct {
	Seconds float64 `json:"seconds"` // of measuring
	Loops   []Loop  `json:"loops"`
	Sleep   Sleep   `json:"sleep"`
	// Steal and Foreign are shares of the time of all CPUs: stolen by the hypervisor, and
	// used by other processes on this host.
	Steal   record.Value `json:"steal"`
	Foreign record.Value `json:"foreign"`
	Word    string       `json:"word"` // the worst one of all
	Because record.Said  `json:"because"`
	// Neighbours is the standard deviation of the log ratio of two neighbouring windows of plain work.
	// A forecast of a run starts from it (plan.Expect).
	Neighbours record.Value `json:"neighbour_sd"`
}

// Loop is the noise of one kind of work. A real load is noisier than each of them.
type Loop struct {
	Name   string  `json:"name"` // "alu", "memory", "syscall"
	Title  string  `json:"title"`
	Rate   float64 `json:"rate"` // steps per second
	Slice  float64 `json:"slice_seconds"`
	Slices int     `json:"slices"`
	// CV is the coefficient of variation of windows of Window seconds, SliceCV that of
	// single slices.
	CV      float64 `json:"cv"`
	Window  float64 `json:"window_seconds"`
	SliceCV float64 `json:"slice_cv"`
	Lags    []Lag   `json:"lags"`
	Word    string  `json:"word"`
}

// Lag is the correlation of slices at a distance of Seconds. Noise that is correlated over more
// than a window cancels between neighbouring windows.
type Lag struct {
	Seconds     float64 `json:"seconds"`
	Correlation float64 `json:"correlation"`
}

// Sleep is the wake-up delay after sleeps of 1 ms, in seconds.
type Sleep struct {
	Sleeps int     `json:"sleeps"`
	Median float64 `json:"median_seconds"`
	P99    float64 `json:"p99_seconds"`
	Max    float64 `json:"max_seconds"`
}

// Each round is one slice of every loop and some sleeps.
const (
	slice       = 10 * time.Millisecond
	sleeps      = 3
	sleepLength = time.Millisecond
)

// Look measures the noise of this host for the time d, which should be at least 0.2 s. It
// uses one CPU and 64 MiB of memory.
func Look(ctx context.Context, d time.Duration) (Noise, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	loops, release, err := loops()
	if err != nil {
		return Noise{}, err
	}
	defer release()
	before := readUse()
	delays := make([]int64, 0, int(d/sleepLength))
	begin := sched.Monotonic()
	for end := begin + int64(d); sched.Monotonic() < end; {
		if err := ctx.Err(); err != nil {
			return Noise{}, err
		}
		for _, l := range loops {
			l.run(slice)
		}
		for range sleeps {
			until := sched.Monotonic() + int64(sleepLength)
			sched.SleepUntil(until)
			delays = append(delays, sched.Monotonic()-until)
		}
	}
	n := Noise{Seconds: float64(sched.Monotonic()-begin) * 1e-9, Sleep: sleepDelays(delays)}
	n.Steal, n.Foreign = readUse().since(before)
	for _, l := range loops {
		n.Loops = append(n.Loops, l.judge(n.Seconds))
	}
	n.Neighbours = record.Missing(record.Say("few_slices"))
	if sd, ok := neighbours(loops); ok {
		n.Neighbours = record.Number(sd)
	}
	n.conclude()
	return n, nil
}

// sleepDelays summarizes delays in nanoseconds. It sorts them.
func sleepDelays(ns []int64) Sleep {
	if len(ns) == 0 {
		return Sleep{}
	}
	slices.Sort(ns)
	at := func(q float64) float64 { return float64(ns[int(q*float64(len(ns)-1))]) * 1e-9 }
	return Sleep{Sleeps: len(ns), Median: at(0.5), P99: at(0.99), Max: at(1)}
}

// use is the CPU time since boot, and since the start of this process, in seconds; NaN where it
// is not known.
type use struct{ steal, busy, total, self float64 }

func readUse() use {
	u := use{math.NaN(), math.NaN(), math.NaN(), float64(sched.ProcessCPU()) * 1e-9}
	text, err := proc.FS("/").Text("proc/stat")
	if err != nil {
		return u
	}
	if c, err := proc.AllCPUs(text); err == nil {
		u.steal, u.busy, u.total = c.Steal, c.Busy(), c.Total()
	}
	return u
}

func (u use) since(v use) (steal, foreign record.Value) {
	unread := record.Missing(record.Say("not_in_proc_stat"))
	total := u.total - v.total
	if !(total > 0) {
		return unread, unread
	}
	steal, foreign = unread, unread
	if x := u.steal - v.steal; x >= 0 {
		steal = record.Number(x / total)
	}
	if x := (u.busy - v.busy) - (u.self - v.self); !math.IsNaN(x) {
		foreign = record.Number(max(0, x) / total) // ticks of 10 ms may make it negative
	}
	return steal, foreign
}

// The words for the noise of a host.
const (
	Quiet   = "quiet"
	Shared  = "shared"
	Hostile = "hostile"
)

func rank(word string) int { return slices.Index([]string{Quiet, Shared, Hostile}, word) }

// The least CV of a shared and of a hostile host. docs/method.md (section 2.1) simulates quiet,
// shared and hostile hosts with a CV of 1.2, 3.9 and 8.7 % between windows; the bounds are half
// way between them on a logarithmic scale.
const (
	sharedCV  = 0.022
	hostileCV = 0.058
)

func wordForCV(cv float64) string { return wordFor(cv, sharedCV, hostileCV) }

// wordFor returns the word for x, given the least x of a shared and of a hostile host.
func wordFor(x, shared, hostile float64) string {
	switch {
	case x >= hostile:
		return Hostile
	case x >= shared:
		return Shared
	}
	return Quiet
}

// Bounds of CPU time used by others, as a share of all CPUs, and of the delay of a wake-up in
// seconds, which matters for windows of 0.1 s.
const (
	sharedUse, hostileUse   = 0.05, 0.25
	sharedLate, hostileLate = 2e-3, 10e-3
)

// conclude finds the word for the host, the worst one, and its reason. Causes come before their
// consequences.
func (n *Noise) conclude() {
	n.Word = Quiet
	say := func(word string, because record.Said) {
		if rank(word) > rank(n.Word) {
			n.Word, n.Because = word, because
		}
	}
	if x, ok := n.Foreign.Get(); ok {
		say(wordFor(x, sharedUse, hostileUse), record.Say("host_foreign", "share", x))
	}
	if x, ok := n.Steal.Get(); ok {
		say(wordFor(x, sharedUse, hostileUse), record.Say("host_stolen", "share", x))
	}
	for _, l := range n.Loops {
		say(l.Word, record.Say("host_varies", "loop", l.Name, "cv", l.CV))
	}
	say(wordFor(n.Sleep.P99, sharedLate, hostileLate), record.Say("host_late", "delay", n.Sleep.P99))
	if n.Word == Quiet {
		n.Because = record.Say("host_as_own")
	}
}

// Quieter returns what would reduce the noise of this host; empty where it is quiet.
func (n *Noise) Quieter() (all []record.Said) {
	if x, ok := n.Foreign.Get(); ok && x >= sharedUse {
		all = append(all, record.Say("end_others", "share", x))
	}
	if x, ok := n.Steal.Get(); ok && x >= sharedUse {
		all = append(all, record.Say("other_machine", "share", x))
	}
	if len(all) == 0 && n.Word != Quiet {
		all = append(all, record.Say("noise_unseen"))
	}
	return all
}
