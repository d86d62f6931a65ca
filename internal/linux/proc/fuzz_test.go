package proc

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// seed adds files of testdata, whole and cut off.
func seed(f *testing.F, names ...string) {
	for _, name := range names {
		b := text(f, name)
		f.Add(b)
		f.Add(b[:len(b)/2])
		f.Add(bytes.ReplaceAll(b, []byte("1"), []byte("-1")))
	}
	f.Add([]byte(nil))
	f.Add([]byte("\n\n"))
}

// counts fails on a number that is neither missing nor possible.
func counts(t *testing.T, what string, all ...float64) {
	t.Helper()
	for i, x := range all {
		if x < 0 || math.IsInf(x, 0) {
			t.Errorf("%s: number %d is %v", what, i, x)
		}
	}
}

// FuzzNumbers: a number is missing or not negative, and never changes when the text is cut off.
func FuzzNumbers(f *testing.F) {
	seed(f, "meminfo", "vmstat", "status", "stat", "schedstat", "pressure")
	keys := []string{"MemTotal", "workingset_refault_file", "VmRSS", "Threads", "cpu", "some"}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := keyed(b, keys...)
		counts(t, "keyed", whole...)
		for _, n := range []int{len(b) / 3, len(b) / 2, len(b) - 1} {
			if n < 0 {
				continue
			}
			for i, x := range keyed(b[:n], keys...) {
				if !math.IsNaN(x) && x != whole[i] && !math.IsNaN(whole[i]) {
					t.Errorf("%s is %v, and %v of the first %d bytes", keys[i], whole[i], x, n)
				}
			}
		}
		counts(t, "numbers", numbers(b, 3)...)
		some, full := Pressure(b)
		counts(t, "pressure", some, full)
		run, wait, turns, err := SchedStat(b)
		counts(t, "schedstat", run, wait, turns)
		if err != nil && !math.IsNaN(run+wait+turns) {
			t.Error("an error and numbers")
		}
	})
}

func FuzzCPU(f *testing.F) {
	seed(f, "stat", "pidstat", "cpuinfo", "cpuinfo.arm64")
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := AllCPUs(b)
		counts(t, "cpu", c.User, c.Nice, c.System, c.Idle, c.IOWait, c.IRQ, c.SoftIRQ, c.Steal, c.Guest, c.GuestNice)
		if err == nil && math.IsNaN(c.User+c.System+c.Idle) {
			t.Error("no numbers and no error")
		}
		var p [NumProcessStat]float64
		err = ProcessStat(b, p[:])
		counts(t, "stat of a process", p[:]...)
		if err == nil && math.IsNaN(p[Threads]) {
			t.Error("no numbers and no error")
		}
		cpus(b)
		cpuModel(b)
	})
}

func FuzzNet(f *testing.F) {
	seed(f, "snmp", "netstat", "softnet_stat")
	f.Fuzz(func(t *testing.T, b []byte) {
		dst := make([]float64, 2)
		NetCounters(b, "Tcp", []string{"RetransSegs", "MaxConn"}, dst)
		counts(t, "snmp", dst...)
		p, d, s, err := Softnet(b)
		counts(t, "softnet", p, d, s)
		if (err == nil) == math.IsNaN(p+d+s) {
			t.Errorf("softnet: %v, %v, %v, %v", p, d, s, err)
		}
	})
}

func FuzzBlock(f *testing.F) {
	seed(f, "io.stat", "blkio", "diskstat")
	f.Fuzz(func(t *testing.T, b []byte) {
		io, _ := IOStat(b)
		counts(t, "io.stat", io.ReadBytes, io.WriteBytes, io.Reads, io.Writes)
		r, w, _ := Blkio(b)
		counts(t, "blkio", r, w)
		d, err := DiskStat(b)
		counts(t, "disk", d.ReadBytes, d.WriteBytes, d.Reads, d.Writes, d.Flushes)
		if (err == nil) == math.IsNaN(d.Reads+d.WriteBytes) {
			t.Errorf("disk: %+v, %v", d, err)
		}
	})
}

func FuzzWords(f *testing.F) {
	seed(f, "mountinfo", "mountinfo.v2", "cgroup", "cgroup.v2", "swaps", "os-release", "status")
	f.Fuzz(func(t *testing.T, b []byte) {
		mounts, err := ParseMountInfo(b)
		if err != nil && mounts != nil {
			t.Error("mounts and an error")
		}
		MountOf(mounts, "/a/b")
		ParseCgroups(b)
		parseSwaps(b)
		osRelease(string(b))
		ParseStatus(b)
	})
}

func FuzzMounts(f *testing.F) {
	for line := range strings.Lines(string(text(f, "mountinfo"))) {
		f.Add(strings.TrimSuffix(line, "\n"))
	}
	f.Add(`1 2 0:1 / /a\040b\134 rw - cgroup x rw,cpu`)
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := mountLine(line); ok && (m.Point == "" || m.Root == "" || m.Options == "") {
			t.Errorf("%q gives %+v", line, m)
		}
	})
}
