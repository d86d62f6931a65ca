package doctor

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// Noise is how steady this host is, seen from one thread for a few seconds: the
// same work again and again in short slices, and sleeps that should be punctual.
// Noise slower than the look (credits of a cloud, a neighbour's job) is not in it.
type Noise struct {
	Seconds float64 `json:"seconds"` // how long it looked
	Loops   []Loop  `json:"loops"`
	Sleep   Sleep   `json:"sleep"`
	// Steal and Foreign are shares of all CPUs' time: taken by the hypervisor
	// for others, and used by other processes on this host.
	Steal   record.Value `json:"steal"`
	Foreign record.Value `json:"foreign"`
	Word    string       `json:"word"` // the worst that was seen
	Because string       `json:"because"`
	// Predicted is how many seconds two arms need for an interval of +-1 %, for
	// the worst of the loops; see Loop.
	Predicted record.Value `json:"predicted_seconds"`
}

// Loop is one kind of work. A real load is noisier than the kinds of work in it.
type Loop struct {
	Name   string  `json:"name"` // "alu", "memory", "syscall"
	Title  string  `json:"title"`
	Rate   float64 `json:"rate"` // steps per second
	Slice  float64 `json:"slice_seconds"`
	Slices int     `json:"slices"`
	// CV is the standard deviation over the mean of windows of Window seconds,
	// SliceCV that of single slices.
	CV      float64 `json:"cv"`
	Window  float64 `json:"window_seconds"`
	SliceCV float64 `json:"slice_cv"`
	Lags    []Lag   `json:"lags"`
	Word    string  `json:"word"`
	// Predicted is how many seconds two arms need, in a rotation with windows of
	// Slot seconds, until their difference is known to +-1 %. Differences between
	// launches are not in it.
	Predicted record.Value `json:"predicted_seconds"`
	Slot      float64      `json:"slot_seconds,omitempty"`
	// SlotSD is the standard deviation of the log ratio of two neighbouring ones.
	SlotSD float64 `json:"slot_sd,omitempty"`
}

// Lag is the correlation of slices that are so many seconds apart. Noise that is
// correlated over longer than a window cancels between neighbouring windows.
type Lag struct {
	Seconds     float64 `json:"seconds"`
	Correlation float64 `json:"correlation"`
}

// Sleep is by how many seconds sleeps of 1 ms were late.
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

// Look watches this host for a time d, at least some 0.2 s. It keeps one CPU
// busy and 64 MiB of memory meanwhile.
func Look(ctx context.Context, d time.Duration) (Noise, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	loops, release, err := loops()
	if err != nil {
		return Noise{}, err
	}
	defer release()
	before := readUse()
	late := make([]int64, 0, int(d/sleepLength))
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
			late = append(late, sched.Monotonic()-until)
		}
	}
	n := Noise{Seconds: float64(sched.Monotonic()-begin) * 1e-9, Sleep: lateness(late)}
	n.Steal, n.Foreign = readUse().since(before)
	for _, l := range loops {
		n.Loops = append(n.Loops, l.judge(n.Seconds))
	}
	n.conclude()
	return n, nil
}

func lateness(ns []int64) Sleep {
	if len(ns) == 0 {
		return Sleep{}
	}
	slices.Sort(ns)
	at := func(q float64) float64 { return float64(ns[int(q*float64(len(ns)-1))]) * 1e-9 }
	return Sleep{Sleeps: len(ns), Median: at(0.5), P99: at(0.99), Max: at(1)}
}

// use is how much CPU was used so far, in s; NaN where it is not known.
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
	const why = "/proc/stat does not say it"
	total := u.total - v.total
	if !(total > 0) {
		return record.Missing(why), record.Missing(why)
	}
	steal, foreign = record.Missing(why), record.Missing(why)
	if x := u.steal - v.steal; x >= 0 {
		steal = record.Number(x / total)
	}
	if x := (u.busy - v.busy) - (u.self - v.self); !math.IsNaN(x) {
		foreign = record.Number(max(0, x) / total) // below 0 by the steps of 10 ms in which it is printed
	}
	return steal, foreign
}

// The words.
const (
	Quiet   = "quiet"
	Shared  = "shared"
	Hostile = "hostile"
)

func rank(word string) int { return slices.Index([]string{Quiet, Shared, Hostile}, word) }

// The bounds between the words. The method (section 2.1) simulates quiet, shared
// and hostile machines with a CV of 1.2, 3.9 and 8.7 % from window to window; the
// bounds are half way between them on a logarithmic scale.
const (
	sharedCV  = 0.022
	hostileCV = 0.058
)

func byCV(cv float64) string { return by(cv, sharedCV, hostileCV) }

// by is the word for a number with the bounds of shared and hostile.
func by(x, shared, hostile float64) string {
	switch {
	case x >= hostile:
		return Hostile
	case x >= shared:
		return Shared
	}
	return Quiet
}

// Bounds for what others take: a share of all CPUs, and a delay of a wake-up that
// a window of 0.1 s would feel.
const (
	sharedUse, hostileUse   = 0.05, 0.25
	sharedLate, hostileLate = 2e-3, 10e-3
)

// conclude finds the word for the whole, the worst, and what it comes from:
// causes before their consequences.
func (n *Noise) conclude() {
	n.Word = Quiet
	say := func(word, format string, args ...any) {
		if rank(word) > rank(n.Word) {
			n.Word, n.Because = word, fmt.Sprintf(format, args...)
		}
	}
	if x, ok := n.Foreign.Get(); ok {
		say(by(x, sharedUse, hostileUse), "other processes use %.0f %% of the CPU time", 100*x)
	}
	if x, ok := n.Steal.Get(); ok {
		say(by(x, sharedUse, hostileUse), "%.0f %% of the CPU time is stolen by the hypervisor", 100*x)
	}
	n.Predicted = record.Missing("too few slices to tell")
	for _, l := range n.Loops {
		say(l.Word, "%s varies by %.1f %% from window to window", l.Title, 100*l.CV)
	}
	if l, ok := n.Worst(); ok {
		n.Predicted = l.Predicted
	}
	say(by(n.Sleep.P99, sharedLate, hostileLate), "one wake-up in a hundred is late by %.2g ms or more", 1e3*n.Sleep.P99)
	if n.Word == Quiet {
		n.Because = "nothing here is worse than on a machine of one's own"
	}
}

// Worst is the kind of work for which a width takes longest; false: none can be told.
func (n *Noise) Worst() (worst Loop, ok bool) {
	longest := 0.0
	for _, l := range n.Loops {
		if x, known := l.Predicted.Get(); known && x > longest {
			worst, longest, ok = l, x, true
		}
	}
	return worst, ok
}

// Quieter is what would make this host quieter, as far as that was seen; empty where
// it is quiet.
func (n *Noise) Quieter() (all []string) {
	if x, ok := n.Foreign.Get(); ok && x >= sharedUse {
		all = append(all, fmt.Sprintf("end or pause the other processes, which use %.0f %% of the CPU time", 100*x))
	}
	if x, ok := n.Steal.Get(); ok && x >= sharedUse {
		all = append(all, fmt.Sprintf("another hour or a machine with CPUs of its own, for the hypervisor takes %.0f %% of the CPU time", 100*x))
	}
	if len(all) == 0 && n.Word != Quiet {
		all = append(all, "another hour or machine: what disturbs this one cannot be seen from it")
	}
	return all
}
