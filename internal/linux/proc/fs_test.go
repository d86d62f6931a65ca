package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files below a fresh root.
func tree(t *testing.T, files map[string]string) FS {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return FS(root)
}

func TestFixtureTree(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	f := tree(t, map[string]string{
		"proc/cpuinfo":                        "model name\t: Test CPU\nflags\t\t: fpu hypervisor sse\n",
		"proc/swaps":                          "Filename Type Size Used Priority\n",
		"proc/7/status":                       "Name:\tx\nSeccomp:\t2\n",
		"sys/class/dmi/id/product_name":       "KVM\n",
		cpu + "vulnerabilities/mds":           "Not affected\n",
		cpu + "cpu0/cpufreq/scaling_governor": "performance\n",
		cpu + "cpu1/cpufreq/scaling_governor": "powersave\n",
		cpu + "cpufreq/boost":                 "0\n",
		"usr/lib/os-release":                  "ID=test\n",
	})
	model, err := f.CPUModel()
	same(t, "model", model, "Test CPU")
	same(t, "virtual", f.Virtual(), "hypervisor (KVM)")
	v, err2 := f.Vulnerabilities()
	same(t, "vulnerabilities", v, map[string]string{"mds": "Not affected"})
	g, err3 := f.Governors()
	same(t, "governors", g, []string{"performance", "powersave"})
	on, err4 := f.Turbo()
	same(t, "turbo", on, false)
	id, err5 := f.OSRelease()
	same(t, "os-release", id["ID"], "test")
	s, err6 := f.Status(7)
	same(t, "status", s["Seccomp"], "2")
	swaps, err7 := f.Swaps()
	same(t, "swaps", len(swaps), 0)
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7); err != nil {
		t.Error(err)
	}
}

func TestEmptyTree(t *testing.T) {
	f := FS(t.TempDir())
	_, err1 := f.CPUModel()
	_, err2 := f.Vulnerabilities()
	_, err3 := f.Governors()
	_, err4 := f.Turbo()
	_, err5 := f.OSRelease()
	_, err6 := f.Status(1)
	_, err7 := f.Swaps()
	_, err8 := f.Mounts()
	_, err9 := f.Cgroups("self")
	_, err10 := f.Amounts("proc/meminfo", "MemTotal")
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9, err10} {
		if err == nil {
			t.Errorf("number %d found something in an empty tree", i+1)
		}
	}
	same(t, "virtual", f.Virtual(), "")
	if !errors.Is(err3, ErrNoFrequency) || !errors.Is(err4, ErrNoFrequency) {
		t.Errorf("no cpufreq: %v, %v", err3, err4)
	}
}

func TestThisKernel(t *testing.T) {
	f := FS("/")
	if m, err := f.Mounts(); err != nil || MountOf(m, "/proc") == nil || MountOf(m, "/proc").Type != "proc" {
		t.Errorf("mounts: %v", err)
	}
	if s, err := f.Status(os.Getpid()); err != nil || s["VmHWM"] == "" {
		t.Errorf("status: %v, %v", s, err)
	}
	if a, err := f.Amounts("proc/meminfo", "MemTotal"); err != nil || !(a[0] > 1<<20) {
		t.Errorf("meminfo: %v, %v", a, err)
	}
	if c, err := f.Cgroups("self"); err != nil || len(c) == 0 {
		t.Errorf("cgroups: %v, %v", c, err)
	}
}

func TestFileReadsAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	long := strings.Repeat("0123456789abcde\n", 1<<12) // many times the first buffer
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first\n", "second one\n", long, strings.Repeat("x", wholeBelow), "", "short\n"} {
		write(want)
		if got, err := f.Read(); err != nil || string(got) != want {
			t.Errorf("read %d bytes, %v, want %d", len(got), err, len(want))
		}
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	if _, err := f.Read(); err == nil {
		t.Error("read a closed file")
	}
	if _, err := Open(path + "-absent"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("open an absent file: %v", err)
	}
}

func TestFileReadsTheKernelWhole(t *testing.T) {
	for _, path := range []string{"/proc/self/mountinfo", "/proc/net/netstat", "/proc/vmstat", "/proc/self/status", "/proc/kallsyms"} {
		f, err := Open(path)
		if err != nil {
			continue
		}
		got, err := f.Read()
		if err == nil && (len(got) == 0 || got[len(got)-1] != '\n') {
			t.Errorf("%s: %d bytes do not end in a newline", path, len(got))
		}
		f.Close()
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	for _, path := range []string{"/proc/stat", "/proc/self/schedstat", "/proc/net/snmp"} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		dst := make([]float64, 1)
		if n := testing.AllocsPerRun(100, func() {
			b, err := f.Read()
			if err != nil {
				t.Fatal(err)
			}
			Numbers(b, dst)
			NetCounters(b, "Tcp", []string{"RetransSegs"}, dst)
			AllCPUs([]byte("cpu 1 2 3 4\n"))
		}); n != 0 {
			t.Errorf("%s: %v allocations per read", path, n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, path := range []string{"/proc/self/schedstat", "/proc/self/stat", "/proc/self/status", "/proc/stat", "/proc/net/softnet_stat", "/proc/net/snmp", "/proc/net/netstat", "/proc/vmstat", "/proc/pressure/cpu"} {
		b.Run(strings.TrimPrefix(path, "/proc/"), func(b *testing.B) {
			f, err := Open(path)
			if err != nil {
				b.Skip(err)
			}
			defer f.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
