package proc

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
)

// tick is the unit in which the kernel prints CPU time in /proc: 1/USER_HZ s,
// 10 ms on every architecture of Linux but alpha and ia64. Idle and steal are
// counted finer and only printed in it.
const tick = 0.01

// CPUTimes are cumulative seconds of one CPU, or of all added up. Fields that an
// older kernel does not print are NaN. Guest time is contained in User and Nice.
type CPUTimes struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal, Guest, GuestNice float64
}

// Busy is the time in which this machine worked: not idle, not waiting for input
// and output, and not stolen. NaN when one of its parts is missing.
func (c CPUTimes) Busy() float64 {
	return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
}

// Total is Busy with idle, waiting and stolen time: elapsed time times CPUs.
func (c CPUTimes) Total() float64 { return c.Busy() + c.Idle + c.IOWait + c.Steal }

// AllCPUs reads the line of all CPUs together from the text of /proc/stat.
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

// CPUs counts the CPUs that are online in the text of /proc/stat.
func CPUs(text []byte) int {
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

// Process is what the kernel says of who a process is.
type Process struct {
	State  byte // 'R', 'S', 'Z' ...
	Parent int
	Start  uint64 // clock ticks since boot: with the pid it names a process for good
}

// Over says that it has ended and was only not waited for.
func (p Process) Over() bool { return p.State == 'Z' || p.State == 'X' }

// Process reads /proc/PID/stat of a process or thread.
func (f FS) Process(pid int) (p Process, err error) {
	text, err := os.ReadFile(f.Pid(pid, "stat"))
	if err != nil {
		return p, err
	}
	// The name of the program may hold spaces, brackets and newlines.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const parent, start = 4 - 3, 22 - 3 // the first behind the name is number 3
	if len(fields) <= start {
		return p, malformed(fmt.Sprintf("stat of process %d", pid))
	}
	p.State = fields[0][0]
	if p.Parent, err = strconv.Atoi(string(fields[parent])); err == nil {
		p.Start, err = strconv.ParseUint(string(fields[start]), 10, 64)
	}
	return p, err
}

// Fields of ProcessStat.
const (
	MinorFaults = iota // faults that needed no input, of all threads, ended ones too
	MajorFaults        // faults that had to read
	UserTime           // s, of all threads, ended ones too; split by sampling on most kernels
	SystemTime         // s
	Threads
	NumProcessStat
)

// ProcessStat reads the text of /proc/PID/stat into dst, which has room for
// NumProcessStat numbers. The name of the program may hold spaces, brackets and
// newlines; the fields are found behind the last closing bracket.
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

// SchedStat reads the text of schedstat of a thread: seconds on a CPU, seconds
// runnable and waiting for one, and the number of turns on a CPU. A kernel that
// has the file and does not count prints three zeros.
func SchedStat(text []byte) (run, wait, turns float64, err error) {
	var t [3]float64
	Numbers(text, t[:])
	if math.IsNaN(t[0] + t[1] + t[2]) {
		missing(t[:])
		return t[0], t[1], t[2], malformed("schedstat")
	}
	return t[0] * 1e-9, t[1] * 1e-9, t[2], nil
}
