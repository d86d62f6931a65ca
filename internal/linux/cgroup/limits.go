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

// Limits are the limits of a group. A zero field is no limit, and is read back as "none".
type Limits struct {
	Memory uint64 // bytes, rounded down to pages
	// Swap is how much may be swapped out besides, in bytes; 0: what the kernel has. It needs Memory. A kernel that
	// does not account swap cannot limit it.
	Swap uint64
	Pids uint64 // processes and threads
	// CPUs is the quota in CPU seconds per second: 2 is the time of two CPUs.
	CPUs float64
	// Burst is how much unused quota can be saved up, in the unit of CPUs; at most CPUs.
	Burst float64
	// Weight is the share of the CPUs beside the host's other groups: 1 to 10 000, where 100 is the default.
	Weight uint64
	// Period is the period of the quota; 0: the kernel's default of 100 ms.
	Period time.Duration
	// CPUSet and MemSet are lists of CPUs and memory nodes, "0-3,6"; empty: those of the
	// parent.
	CPUSet, MemSet string
}

const (
	defaultPeriod = 100 * time.Millisecond
	none          = "none"
	// amplePids is more than any load here starts.
	amplePids = 100_000
)

// With is l with the fields of over that are not zero.
func (l Limits) With(over Limits) Limits {
	l.Memory, l.Pids, l.Swap = cmp.Or(over.Memory, l.Memory), cmp.Or(over.Pids, l.Pids), cmp.Or(over.Swap, l.Swap)
	l.CPUs, l.Period = cmp.Or(over.CPUs, l.CPUs), cmp.Or(over.Period, l.Period)
	l.Burst, l.Weight = cmp.Or(over.Burst, l.Burst), cmp.Or(over.Weight, l.Weight)
	l.CPUSet, l.MemSet = cmp.Or(over.CPUSet, l.CPUSet), cmp.Or(over.MemSet, l.MemSet)
	return l
}

// Ample are limits that no load reaches: they switch on the accounting. Memory is all that the
// host has. Pids is at most half of the host's limit, so that a load that forks without end
// leaves the other half to the host.
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

// limit is one setting with the names and words of one version.
type limit struct {
	name       string // in the manifest; the same for both versions
	controller string
	file       string
	effective  string // the file with the value in force, if it is another one
	write      string // the text to write; empty: only read
	wanted     string // the value in the words of the manifest
	got        func(read string) string
	// competes says that the setting has an effect only among siblings. It is set on Group.Competing.
	competes bool
}

// of is the group on which the limit is set.
func (s limit) of(g Group) Group {
	if s.competes {
		return g.Competing()
	}
	return g
}

// Apply sets the limits of the group's controllers and returns them as read back from the
// kernel. A limit that the kernel did not accept is an error.
func (g Group) Apply(l Limits) ([]record.Setting, error) {
	for _, s := range g.limits(l) {
		if s.write == "" {
			continue
		}
		dir, err := s.of(g).Dir(s.controller)
		if err == nil {
			err = g.Tree.write(filepath.Join(dir, s.file), s.write)
		}
		if err != nil {
			return nil, fmt.Errorf("%s of group %s: %w", s.name, g.Path, err)
		}
	}
	return g.Check(l)
}

// Check reads the limits back from the kernel and returns them. A limit that differs from l is
// an error as well.
func (g Group) Check(l Limits) ([]record.Setting, error) {
	var all []record.Setting
	var err error
	for _, s := range g.limits(l) {
		file := cmp.Or(s.effective, s.file)
		read, e := s.of(g).Read(s.controller, file)
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
			all = append(all, swapLimit(l, v2, dir)...)
		case "pids":
			all = append(all, pidsLimit(l))
		case "cpu":
			all = append(all, cpuLimits(l, v2)...)
			all = append(all, chosenCPU(l, v2)...)
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

// swapLimit is the limit of what is swapped out. Version 1 limits memory and swap together, and not below the limit of
// memory, which is written first.
func swapLimit(l Limits, v2 bool, dir string) []limit {
	if l.Swap == 0 || l.Memory == 0 {
		return nil
	}
	page := uint64(os.Getpagesize())
	s := limit{name: "memory.swap.limit", controller: "memory", file: "memory.swap.max", got: bytesGot}
	n := l.Swap / page * page
	s.wanted = strconv.FormatUint(n, 10)
	s.write = s.wanted
	if !v2 {
		memory := l.Memory / page * page
		s.file, s.write = "memory.memsw.limit_in_bytes", strconv.FormatUint(memory+n, 10)
		s.got = func(read string) string {
			both, err := strconv.ParseUint(read, 10, 64)
			if err != nil || both > math.MaxInt64/2 {
				return bytesGot(read)
			}
			return strconv.FormatUint(both-min(both, memory), 10)
		}
	}
	if !exists(filepath.Join(dir, s.file)) { // without CONFIG_MEMCG_SWAP, or booted with swapaccount=0
		return nil
	}
	return []limit{s}
}

// bytesGot translates version 1's word for no limit, the largest number of pages.
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

// cpuLimits are quota and period, both in s. Version 1 checks the quota against the period, so
// the period is written first.
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

// chosenCPU are the limits of the cpu controller that are only set if they are chosen: kernels before
// 5.14 have no burst.
func chosenCPU(l Limits, v2 bool) (all []limit) {
	as := func(read string) string { return read }
	if l.Burst > 0 {
		period := cmp.Or(l.Period, defaultPeriod)
		us := int64(math.Round(l.Burst * float64(period.Microseconds())))
		s := limit{name: "cpu.burst", controller: "cpu", file: "cpu.max.burst", write: strconv.FormatInt(us, 10), wanted: seconds(us),
			got: func(read string) string { return microseconds(strings.Fields(read), 0) }}
		if !v2 {
			s.file = "cpu.cfs_burst_us"
		}
		all = append(all, s)
	}
	if l.Weight > 0 {
		s := limit{name: "cpu.weight", controller: "cpu", file: "cpu.weight", write: strconv.FormatUint(l.Weight, 10), got: as, competes: true}
		if !v2 {
			s.file, s.write = "cpu.shares", strconv.FormatUint(Shares(l.Weight), 10)
		}
		s.wanted = s.write
		all = append(all, s)
	}
	return all
}

// Shares is a weight of version 2 as shares of version 1, where 1024 is the default and 2 the least.
func Shares(weight uint64) uint64 {
	return max(2, uint64(math.Round(float64(weight)*1024/100)))
}

// microseconds converts word i, a number of microseconds, to seconds.
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

// setLimits are the CPUs and memory nodes. In version 2 a list is what was asked for: it is
// empty in a group that uses its parent's, and stays as written if the parent has none of those
// CPUs. Another file has the CPUs in use.
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
