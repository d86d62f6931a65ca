package proc

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// text is a file of testdata, taken from a real kernel.
func text(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/text", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Errorf("%s: -want +got\n%s", what, d)
	}
}

func keyed(b []byte, keys ...string) []float64 {
	dst := make([]float64, len(keys))
	Keyed(b, keys, dst)
	return dst
}

func numbers(b []byte, n int) []float64 {
	dst := make([]float64, n)
	Numbers(b, dst)
	return dst
}

func TestUint(t *testing.T) {
	for in, want := range map[string]uint64{"0": 0, "007": 7, "18446744073709551615": math.MaxUint64} {
		if got, ok := Uint([]byte(in)); !ok || got != want {
			t.Errorf("Uint(%q) = %d, %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "-1", "+1", " 1", "1 ", "1.5", "0x1", "max", "18446744073709551616", "99999999999999999999", "000000000000000000001"} {
		if got, ok := Uint([]byte(in)); ok {
			t.Errorf("Uint(%q) = %d, want none", in, got)
		}
	}
}

func TestKeyed(t *testing.T) {
	nan := math.NaN()
	same(t, "meminfo", keyed(text(t, "meminfo"), "MemTotal", "MemAvailable", "HugePages_Total"), []float64{24684084 * 1024, 24278156 * 1024, 0})
	same(t, "vmstat", keyed(text(t, "vmstat"), "workingset_refault_file", "no_such"), []float64{345511, nan})
	same(t, "status", keyed(text(t, "status"), "VmHWM", "Seccomp", "CapEff"), []float64{1728 * 1024, 0, nan})
	same(t, "negative, twice, cut off", keyed([]byte("a -1\nb 2\nb 3\nc 45"), "a", "b", "c"), []float64{nan, 2, nan})
	same(t, "another unit", keyed([]byte("a 1 MB\n"), "a"), []float64{nan})
	same(t, "a longer key", keyed([]byte("abc 1\nab 2\n"), "ab"), []float64{2})
}

func TestNumbers(t *testing.T) {
	nan := math.NaN()
	same(t, "three", numbers([]byte("354100 0 1\n"), 3), []float64{354100, 0, 1})
	same(t, "too few", numbers([]byte("1 2\n"), 3), []float64{1, 2, nan})
	same(t, "cut off", numbers([]byte("1 2 3"), 3), []float64{nan, nan, nan})
	same(t, "words", numbers([]byte("max 100000\n"), 2), []float64{nan, 100000})
	same(t, "empty", numbers(nil, 1), []float64{nan})
}

func TestAllCPUs(t *testing.T) {
	got, err := AllCPUs(text(t, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "times", got, CPUTimes{User: 191.59, System: 184.71, Idle: 3151.40, IOWait: 4.75, SoftIRQ: 74.28, Steal: 0.39})
	same(t, "busy", got.Busy(), 191.59+184.71+74.28)
	same(t, "total", got.Total(), 191.59+184.71+74.28+3151.40+4.75+0.39)
	same(t, "CPUs", cpus(text(t, "stat")), 2)
	old, err := AllCPUs([]byte("cpu  1 2 3 4\n"))
	if err != nil || !math.IsNaN(old.Steal) || !math.IsNaN(old.Busy()) {
		t.Errorf("an old kernel without steal: %+v, %v", old, err)
	}
	for _, bad := range []string{"", "cpu  1 2 3\n", "cpu  1 2 3 4", "cpu0 1 2 3 4\n", "cpu  1 -2 3 4\n"} {
		if got, err := AllCPUs([]byte(bad)); err == nil {
			t.Errorf("AllCPUs(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestProcessStat(t *testing.T) {
	var got [NumProcessStat]float64
	if err := ProcessStat(text(t, "pidstat"), got[:]); err != nil {
		t.Fatal(err)
	}
	same(t, "stat", got, [NumProcessStat]float64{39494, 7, 0.83, 3.97, 13})
}

func TestSchedStat(t *testing.T) {
	run, wait, turns, err := SchedStat([]byte("354100 2000 1\n"))
	same(t, "schedstat", []float64{run, wait, turns}, []float64{354100e-9, 2e-6, 1})
	if err != nil {
		t.Error(err)
	}
	if run, _, _, err := SchedStat([]byte("354100 20")); err == nil || !math.IsNaN(run) {
		t.Errorf("cut off: %v, %v", run, err)
	}
}

func TestPressure(t *testing.T) {
	some, full := Pressure(text(t, "pressure"))
	same(t, "pressure", []float64{some, full}, []float64{4.221315, 3.453850})
	some, full = Pressure([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"))
	same(t, "no full", []float64{some, full}, []float64{7e-6, math.NaN()})
	some, full = Pressure([]byte("some avg10=0.00 total=7\nfull avg10=0.00 total=12"))
	same(t, "cut off", []float64{some, full}, []float64{7e-6, math.NaN()})
}

func TestNet(t *testing.T) {
	dst := make([]float64, 2)
	NetCounters(text(t, "snmp"), "Tcp", []string{"RetransSegs", "MaxConn"}, dst)
	same(t, "snmp, MaxConn is -1", dst, []float64{37, math.NaN()})
	NetCounters(text(t, "netstat"), "TcpExt", []string{"TCPPureAcks", "ListenDrops"}, dst)
	if math.IsNaN(dst[0] + dst[1]) {
		t.Errorf("netstat: %v", dst)
	}
	p, d, s, err := Softnet(text(t, "softnet_stat"))
	same(t, "softnet", []float64{p, d, s}, []float64{0xb1e355 + 0xbe9045, 10, 2})
	if err != nil {
		t.Error(err)
	}
}

func TestBlock(t *testing.T) {
	io, err := IOStat(text(t, "io.stat"))
	same(t, "io.stat", io, IO{ReadBytes: 1773568 + 4096, WriteBytes: 40960, Reads: 113, Writes: 7})
	if err != nil {
		t.Error(err)
	}
	if io, err := IOStat(nil); err != nil || io != (IO{}) {
		t.Errorf("a group without input and output: %v, %v", io, err)
	}
	r, w, err := Blkio(text(t, "blkio"))
	same(t, "blkio", []float64{r, w}, []float64{4608, 139264})
	if err != nil {
		t.Error(err)
	}
	d, err := DiskStat(text(t, "diskstat"))
	same(t, "disk", d, Disk{IO{4497338 * 512, 2151976 * 512, 110692, 21330}, 6416, 62336e-3, 8538e-3, 211e-3, 0})
	if err != nil {
		t.Error(err)
	}
	old, err := DiskStat([]byte("1 2 3 4 5 6 7 8 9 10 11\n"))
	same(t, "an old kernel without flushes", old, Disk{IO{3 * 512, 7 * 512, 1, 5}, math.NaN(), 4e-3, 8e-3, math.NaN(), 9})
	if err != nil {
		t.Error(err)
	}
}

func TestMounts(t *testing.T) {
	all, err := ParseMountInfo(text(t, "mountinfo"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "overlay", all[5], Mount{0, 52, "/data", "/srv/with blank", "rw,relatime", "overlay", "overlay", "rw,lowerdir=/a:/b,upperdir=/c"})
	same(t, "no tag", all[6].Root, "/var/lib")
	escaped, ok := mountLine(`1 2 0:1 /a\134b /my\040cgroups rw shared:1 master:2 - cgroup x\040y rw,cpu,cpuacct`)
	if same(t, "escapes", escaped, Mount{0, 1, `/a\b`, "/my cgroups", "rw", "cgroup", "x y", "rw,cpu,cpuacct"}); !ok {
		t.Error("a line with escapes is none")
	}
	for path, want := range map[string]string{"/": "/", "/srv/bindx": "/", "/srv/bind": "/srv/bind", "/sys/fs/cgroup/cpu/a": "/sys/fs/cgroup/cpu"} {
		same(t, "mount of "+path, MountOf(all, path).Point, want)
	}
	if MountOf(nil, "/") != nil {
		t.Error("a mount of nothing")
	}
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/proc/7", 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Process{
		"7 (a) name) S 3) Z 5 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0\n": {'Z', 5, 12345},
		"7 (short) S 5 7\n": {},
		"":                  {},
	} {
		if err := os.WriteFile(dir+"/proc/7/stat", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := FS(dir).Process(7)
		same(t, text, got, want)
		if (err == nil) != (want.Start > 0) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if own, err := FS("/").Process(os.Getpid()); err != nil || own.Parent != os.Getppid() || own.Over() {
		t.Errorf("this process: %+v %v", own, err)
	}
}

func TestCgroups(t *testing.T) {
	got, err := ParseCgroups(text(t, "cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "memory", got["memory"], "/user/a b")
	same(t, "v2 of hybrid", got[""], "/")
	got, err = ParseCgroups(text(t, "cgroup.v2"))
	same(t, "v2", got, map[string]string{"": "/user.slice/user-1000.slice/session-2.scope"})
	if err != nil {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	os := osRelease(string(text(t, "os-release")))
	same(t, "name", os["PRETTY_NAME"], "Debian GNU/Linux 12 (bookworm)")
	same(t, "single", os["ODD"], "single $quoted")
	same(t, "escaped", os["ESCAPED"], `a "b" $c`)
	same(t, "amd64", cpuModel(text(t, "cpuinfo")), "AMD EPYC")
	same(t, "arm64", cpuModel(text(t, "cpuinfo.arm64")), "implementer 0x41 part 0xd0c")
	s := ParseStatus(text(t, "status"))
	same(t, "seccomp", s["Seccomp"], "0")
	same(t, "store bypass", s["Speculation_Store_Bypass"], "vulnerable")
	swaps, err := parseSwaps(text(t, "swaps"))
	same(t, "swaps", swaps, []Swap{{"/swap file", 1048572 << 10, 256 << 10}, {"/dev/zram0", 2097148 << 10, 0}})
	if err != nil {
		t.Error(err)
	}
}
