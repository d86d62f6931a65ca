package proc

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
)

// tick is the unit of CPU times in /proc in s: 1/USER_HZ, 10 ms on all architectures of Linux
// but alpha and ia64. The kernel counts idle and steal time more finely and prints them in this
// unit.
const tick = 0.01

// CPUTimes are cumulative seconds of one CPU, or of all CPUs. Fields that an older kernel does
// not print are NaN. Guest time is part of User and Nice.
type CPUTimes struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal, Guest, GuestNice float64
}

// Busy is the time in which the CPUs worked: not idle, not waiting for I/O, not stolen. NaN:
// one of its parts is missing.
func (c CPUTimes) Busy() float64 {
	return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
}

// Total is elapsed time times CPUs: Busy, idle, waiting and stolen time.
func (c CPUTimes) Total() float64 { return c.Busy() + c.Idle + c.IOWait + c.Steal }

// AllCPUs parses the line of all CPUs together in /proc/stat.
func AllCPUs(text []byte) (CPUTimes, error) {
	line, _, whole := cutLine(text)
	name, rest := cutField(line)
	if !whole || string(name) != "cpu" {
		return CPUTimes{}, malformed("cpu line of stat")
	}
	return cpuTimes(rest)
}

func cpuTimes(rest []byte) (CPUTimes, error) {
	var t [10]float64
	fieldsInto(rest, t[:])
	if math.IsNaN(t[0] + t[1] + t[2] + t[3]) {
		return CPUTimes{}, malformed("cpu line of stat")
	}
	for i := range t {
		t[i] *= tick
	}
	return CPUTimes{t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9]}, nil
}

// OnlineCPUs is the number of the host's online CPUs, also of those that this process may not use; at least 1.
func (f FS) OnlineCPUs() (int, error) {
	text, err := f.Text("proc/stat")
	if err != nil {
		return 1, err
	}
	return max(1, cpus(text)), nil
}

// cpus counts the online CPUs in the text of /proc/stat.
func cpus(text []byte) int {
	n := 0
	for len(text) > 0 {
		var line []byte
		line, text, _ = cutLine(text)
		name, _ := cutField(line)
		if len(name) > 3 && string(name[:3]) == "cpu" {
			if _, ok := Uint(name[3:]); ok {
				n++
			}
		}
	}
	return n
}

// Process identifies a process.
type Process struct {
	State  byte // 'R', 'S', 'Z' ...
	Parent int
	Start  uint64 // clock ticks since boot; with the pid it identifies a process
}

// Over says that the process has ended and its parent has not waited for it yet.
func (p Process) Over() bool { return p.State == 'Z' || p.State == 'X' }

// Process parses /proc/PID/stat of a process or thread.
func (f FS) Process(pid int) (p Process, err error) {
	text, err := os.ReadFile(f.Pid(pid, "stat"))
	if err != nil {
		return p, err
	}
	// The name of the program may have spaces, brackets and newlines.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const parent, start = 4 - 3, 22 - 3 // the first field after the name is number 3
	if len(fields) <= start {
		return p, malformed(fmt.Sprintf("stat of process %d", pid))
	}
	p.State = fields[0][0]
	if p.Parent, err = strconv.Atoi(string(fields[parent])); err == nil {
		p.Start, err = strconv.ParseUint(string(fields[start]), 10, 64)
	}
	return p, err
}

// Indexes of the numbers of ProcessStat. All include ended threads.
const (
	MinorFaults = iota // page faults without I/O
	MajorFaults        // page faults with I/O
	UserTime           // s; most kernels split user and system time by sampling
	SystemTime         // s
	Threads
	NumProcessStat
)

// ProcessStat parses /proc/PID/stat into dst, which has NumProcessStat elements. The name of
// the program may have spaces, brackets and newlines; the fields follow the last closing
// bracket.
func ProcessStat(text []byte, dst []float64) error {
	missing(dst[:NumProcessStat])
	end := len(text) - 1
	if end < 0 || text[end] != '\n' {
		return malformed("stat of a process")
	}
	i := end
	for i >= 0 && text[i] != ')' {
		i--
	}
	if i < 0 {
		return malformed("stat of a process")
	}
	rest := text[i+1 : end]
	var f []byte
	for field := 3; field <= 20; field++ { // numbered as in proc_pid_stat(5)
		f, rest = cutField(rest)
		switch field {
		case 10:
			dst[MinorFaults] = number(f)
		case 12:
			dst[MajorFaults] = number(f)
		case 14:
			dst[UserTime] = number(f) * tick
		case 15:
			dst[SystemTime] = number(f) * tick
		case 20:
			dst[Threads] = number(f)
		}
	}
	if math.IsNaN(dst[Threads]) {
		missing(dst[:NumProcessStat])
		return malformed("stat of a process")
	}
	return nil
}

// SchedStat parses schedstat of a thread: seconds on a CPU, seconds runnable and waiting for a
// CPU, and number of turns on a CPU. A kernel that does not count may still have the file, with
// three zeros.
func SchedStat(text []byte) (run, wait, turns float64, err error) {
	var t [3]float64
	Numbers(text, t[:])
	if math.IsNaN(t[0] + t[1] + t[2]) {
		missing(t[:])
		return t[0], t[1], t[2], malformed("schedstat")
	}
	return t[0] * 1e-9, t[1] * 1e-9, t[2], nil
}
