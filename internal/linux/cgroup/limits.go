package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/record"
)

// Limits are what a group may use. A zero field is not limited, and is read
// back as "none" all the same.
type Limits struct {
	Memory uint64 // bytes, rounded down to pages
	Pids   uint64 // processes and threads
	// CPUs is the quota in CPU seconds per second: 2 is two CPUs' worth.
	CPUs float64
	// Period is over what the quota is counted; 0 is the kernel's default of
	// 100 ms.
	Period time.Duration
	// CPUSet and MemSet are lists of CPUs and memory nodes, "0-3,6"; empty
	// leaves those of the parent.
	CPUSet, MemSet string
}

const (
	defaultPeriod = 100 * time.Millisecond
	none          = "none"
	// amplePids is more than any load here starts.
	amplePids = 100_000
)

// With is l with what is not zero in over.
func (l Limits) With(over Limits) Limits {
	l.Memory, l.Pids = cmp.Or(over.Memory, l.Memory), cmp.Or(over.Pids, l.Pids)
	l.CPUs, l.Period = cmp.Or(over.CPUs, l.CPUs), cmp.Or(over.Period, l.Period)
	l.CPUSet, l.MemSet = cmp.Or(over.CPUSet, l.CPUSet), cmp.Or(over.MemSet, l.MemSet)
	return l
}

// Ample are limits that nobody reaches: they switch the accounting on and
// limit nothing. Memory is all that the host has. Processes are at most half of what there
// may be: a load that starts them without end leaves the others to the host.
func (t *Tree) Ample() (Limits, error) {
	memory, err := t.proc.Amounts("proc/meminfo", "MemTotal")
	if err == nil && math.IsNaN(memory[0]) {
		err = errors.New("no MemTotal in /proc/meminfo")
	}
	if err != nil {
		return Limits{}, fmt.Errorf("find the host's memory: %w", err)
	}
	l := Limits{Memory: uint64(memory[0]), Pids: amplePids}
	for _, p := range t.PidsLimits() {
		l.Pids = min(l.Pids, uint64(max(1, p.Most/2)))
	}
	return l, nil
}

// limit is one setting in the words of one version.
type limit struct {
	name       string // the same for both versions
	controller string
	file       string
	effective  string // the file that says what is in force, where that is another
	write      string // what is written; empty: only read
	wanted     string // in the words of name
	got        func(read string) string
}

// Apply sets the limits of the controllers that the group has and returns them
// as the kernel reads them back. A limit that did not take is an error.
func (g Group) Apply(l Limits) ([]record.Setting, error) {
	for _, s := range g.limits(l) {
		if s.write == "" {
			continue
		}
		dir, err := g.Dir(s.controller)
		if err == nil {
			err = g.Tree.write(filepath.Join(dir, s.file), s.write)
		}
		if err != nil {
			return nil, fmt.Errorf("%s of group %s: %w", s.name, g.Path, err)
		}
	}
	return g.Check(l)
}

// Check reads the limits back from the kernel. One that is no longer what is
// wanted is an error, together with what was read.
func (g Group) Check(l Limits) ([]record.Setting, error) {
	var all []record.Setting
	var err error
	for _, s := range g.limits(l) {
		file := cmp.Or(s.effective, s.file)
		read, e := g.Read(s.controller, file)
		if e != nil {
			return all, fmt.Errorf("read back %s of group %s: %w", s.name, g.Path, e)
		}
		got := s.got(read)
		all = append(all, record.Setting{Name: s.name, Wanted: s.wanted, Got: got})
		if s.wanted != "" && got != s.wanted && err == nil {
			err = fmt.Errorf("%s of group %s: wanted %s, %s reads %s", s.name, g.Path, s.wanted, file, read)
		}
	}
	return all, err
}

// limits are the settings of the controllers that the group has.
func (g Group) limits(l Limits) []limit {
	var all []limit
	for _, c := range g.Controllers {
		dir := g.Dirs[c]
		v2 := dir == g.Dirs[Unified]
		switch v1Name(c) {
		case "memory":
			all = append(all, memoryLimit(l, v2))
		case "pids":
			all = append(all, pidsLimit(l))
		case "cpu":
			all = append(all, cpuLimits(l, v2)...)
		case "cpuset":
			all = append(all, setLimits(l, v2)...)
		}
	}
	return all
}

func memoryLimit(l Limits, v2 bool) limit {
	s := limit{name: "memory.limit", controller: "memory", file: "memory.max", write: "max", wanted: none, got: bytesGot}
	if !v2 {
		s.file, s.write = "memory.limit_in_bytes", "-1"
	}
	if l.Memory > 0 {
		page := uint64(os.Getpagesize())
		s.wanted = strconv.FormatUint(l.Memory/page*page, 10)
		s.write = s.wanted
	}
	return s
}

// bytesGot knows version 1's word for no limit: the largest number of pages.
func bytesGot(read string) string {
	n, err := strconv.ParseUint(read, 10, 64)
	if read == "max" || err == nil && n > math.MaxInt64/2 {
		return none
	}
	return read
}

func pidsLimit(l Limits) limit {
	s := limit{name: "pids.limit", controller: "pids", file: "pids.max", write: "max", wanted: none, got: maxGot}
	if l.Pids > 0 {
		s.wanted = strconv.FormatUint(l.Pids, 10)
		s.write = s.wanted
	}
	return s
}

func maxGot(read string) string {
	if read == "max" || read == "-1" {
		return none
	}
	return read
}

// cpuLimits are the quota and its period, both in seconds. In version 1 the
// period comes first: the kernel checks the quota against it.
func cpuLimits(l Limits, v2 bool) []limit {
	period := l.Period
	if period == 0 {
		period = defaultPeriod
	}
	us := period.Microseconds()
	quota, write := none, "max"
	if l.CPUs > 0 {
		n := int64(math.Round(l.CPUs * float64(us)))
		quota, write = seconds(n), strconv.FormatInt(n, 10)
	}
	field := func(i int) func(string) string {
		return func(read string) string { return microseconds(strings.Fields(read), i) }
	}
	if v2 {
		return []limit{
			{name: "cpu.quota", controller: "cpu", file: "cpu.max", write: fmt.Sprint(write, " ", us), wanted: quota, got: field(0)},
			{name: "cpu.period", controller: "cpu", file: "cpu.max", wanted: seconds(us), got: field(1)},
		}
	}
	if write == "max" {
		write = "-1"
	}
	return []limit{
		{name: "cpu.period", controller: "cpu", file: "cpu.cfs_period_us", write: strconv.FormatInt(us, 10), wanted: seconds(us), got: field(0)},
		{name: "cpu.quota", controller: "cpu", file: "cpu.cfs_quota_us", write: write, wanted: quota, got: field(0)},
	}
}

// microseconds is word i, a number of microseconds, in seconds.
func microseconds(words []string, i int) string {
	if i >= len(words) {
		return ""
	}
	n, err := strconv.ParseInt(words[i], 10, 64)
	switch {
	case words[i] == "max" || err == nil && n < 0:
		return none
	case err != nil:
		return words[i]
	}
	return seconds(n)
}

func seconds(us int64) string {
	return strconv.FormatFloat(float64(us)/1e6, 'g', -1, 64) + " s"
}

// setLimits are the CPUs and memory nodes. A list of version 2 is what was asked for:
// empty in a group that has its parent's, and kept as it is where the parent has
// none of those CPUs. What the group uses is in a file of its own.
func setLimits(l Limits, v2 bool) []limit {
	as := func(read string) string { return read }
	all := []limit{
		{name: "cpuset.cpus", controller: "cpuset", file: "cpuset.cpus", write: l.CPUSet, wanted: l.CPUSet, got: as},
		{name: "cpuset.mems", controller: "cpuset", file: "cpuset.mems", write: l.MemSet, wanted: l.MemSet, got: as},
	}
	for i := range all {
		if v2 {
			all[i].effective = all[i].file + ".effective"
		}
	}
	return all
}
