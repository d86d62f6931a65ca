package probe

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// trees are the fixtures for every probe.
func trees() map[string]map[string]string {
	return map[string]map[string]string{
		"v2": v2Files(), "v1": v1Files(false), "hybrid": v1Files(true), "no groups": hostFiles(), "empty": {},
	}
}

func open(t testing.TB, target Target) *Set {
	t.Helper()
	s := OpenAll(All(), target)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestMetricsAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		if p.Name() == "" || len(p.Metrics()) == 0 {
			t.Errorf("%T has no name or no metric", p)
		}
		for _, m := range p.Metrics() {
			if m.Name == "" || len(m.Help) < 10 || !slices.Contains([]string{"s", "1", "B", "ratio"}, m.Unit) {
				t.Errorf("%s: %+v", p.Name(), m)
			}
			if seen[m.Name] {
				t.Errorf("%s comes twice", m.Name)
			}
			seen[m.Name] = true
		}
	}
}

// checkExplained fails unless every declared metric has a number or a reason.
func checkExplained(t *testing.T, values map[string]record.Value) {
	t.Helper()
	for _, p := range All() {
		switch p.(type) {
		case nfsMount, device, cephClient:
			continue // these trees do not say where the data is: see TestNFS, TestDevice, TestCephImage
		}
		for _, m := range p.Metrics() {
			v, declared := values[m.Name]
			x, known := v.Get()
			switch {
			case !declared:
				t.Errorf("%s is not there", m.Name)
			case known && (math.IsNaN(x) || x < 0):
				t.Errorf("%s is %v", m.Name, x)
			case !known && (v.Reason().Code == "not_observed" || v.Reason().Code == "not_read"):
				t.Errorf("%s has no reason", m.Name)
			}
		}
	}
}

func TestEveryMetricIsFoundOrExplained(t *testing.T) {
	for name, files := range trees() {
		for _, known := range []bool{true, false} {
			target := targetIn(t, plant(t, files))
			if !known {
				target.Pids = nil
			}
			s := open(t, target)
			first := s.ReadBack(nil)
			values := s.Values(first, s.Read(nil))
			t.Run(name, func(t *testing.T) { checkExplained(t, values) })
			missing := 0
			for n, v := range values {
				if _, ok := v.Get(); !ok {
					missing++
					t.Logf("%s, pids known %v: %s: %s", name, known, n, v.Reason())
				}
			}
			if own := 2; name == "empty" && missing != len(values)-own {
				t.Errorf("an empty tree gave %d numbers", len(values)-missing)
			}
		}
	}
}

// step is a change of one file and the values that follow from it.
type step struct {
	file, old, new string
	want           map[string]float64
}

func TestValuesOnFixtures(t *testing.T) {
	page := float64(os.Getpagesize())
	v2, v1 := "sys/fs/cgroup/tare-x/arm/", func(c string) string { return "sys/fs/cgroup/" + c + "/tare-x/arm/" }
	common := []step{
		{"proc/4243/schedstat", "3000000 22", "5000000 25", map[string]float64{"cpu.wait": 2e-3, "cpu.turns": 3}},
		{"proc/4242/status", "voluntary_ctxt_switches:\t7", "voluntary_ctxt_switches:\t17", map[string]float64{"switches.voluntary": 10, "switches.involuntary": 0}},
		{"proc/4242/stat", "39494 769361 7", "39499 769361 8", map[string]float64{"faults.minor": 5, "faults.major": 1}},
		{"proc/4242/net/snmp", " 37 0", " 39 0", map[string]float64{"net.retransmits": 2}},
		{"proc/net/softnet_stat", "0000000a", "0000001a", map[string]float64{"net.dropped": 16, "net.handled": 0, "net.squeezed": 0}},
		{"sys/block/vda/stat", "6416", "6417", map[string]float64{"disk.flushes": 1, "disk.read": 0, "disk.writes": 0}},
		{"proc/stat", " 39 ", " 41 ", map[string]float64{"cpu.steal": 0.02}},
	}
	onV2 := []step{
		{v2 + "cpu.stat", "usage_usec 5000000", "usage_usec 5250000", map[string]float64{"cpu.time": 0.25, "cpu.user": 0}},
		{v2 + "cpu.stat", "throttled_usec 700000", "throttled_usec 800000", map[string]float64{"cpu.throttled": 0.1, "cpu.throttled_periods": 0}},
		{v2 + "cpu.pressure", "total=1000000", "total=1500000", map[string]float64{"pressure.cpu.some": 0.5, "pressure.cpu.full": 0}},
		{v2 + "memory.stat", "refault_file 40", "refault_file 50", map[string]float64{"memory.refaulted": 10 * page}},
		{v2 + "memory.stat", "pgsteal 800", "pgsteal 802", map[string]float64{"memory.reclaimed": 2 * page, "memory.scanned": 0}},
		{v2 + "memory.events", "high 4", "high 5", map[string]float64{"memory.limit_hits": 1, "memory.oom_kills": 0, "memory.used": 12345678}},
		{v2 + "io.stat", "wbytes=40960 rios=112 wios=7", "wbytes=45056 rios=112 wios=8", map[string]float64{"io.written": 4096, "io.writes": 1, "io.read": 0}},
		{"proc/stat", "cpu  19159", "cpu  19259", map[string]float64{"cpu.foreign": 0.75}},
	}
	onV1 := []step{
		{v1("cpu") + "cpu.stat", "throttled_time 700000000", "throttled_time 800000000", map[string]float64{"cpu.throttled": 0.1}},
		{v1("memory") + "memory.stat", "refault_file 40", "refault_file 50", map[string]float64{"memory.refaulted": 10 * page}},
		{v1("memory") + "memory.failcnt", "54", "55", map[string]float64{"memory.limit_hits": 1, "memory.oom_kills": 0, "memory.used": 12345678}},
		{v1("blkio") + "blkio.throttle.io_service_bytes_recursive", "Write 40960", "Write 45056", map[string]float64{"io.written": 4096, "io.writes": 0}},
	}
	cpuacct := step{v1("cpuacct") + "cpuacct.usage", "5000000000", "5250000000", map[string]float64{"cpu.time": 0.25, "cpu.user": 0}}
	root := step{"sys/fs/cgroup/cpuacct/cpuacct.usage", "455", "456", map[string]float64{"cpu.foreign": 0.75}}
	unified := step{v1("unified") + "cpu.stat", "usage_usec 5000000", "usage_usec 5250000", map[string]float64{"cpu.time": 0.25}}
	processes := step{"proc/4242/stat", " 83 397 ", " 93 417 ", map[string]float64{"cpu.time": 0.3, "cpu.user": 0.1, "cpu.system": 0.2}}
	for _, c := range []struct {
		name  string
		files map[string]string
		steps []step
	}{
		{"v2", v2Files(), slices.Concat(common, onV2)},
		{"v1", v1Files(false), slices.Concat(common, onV1, []step{cpuacct, root})},
		{"hybrid", v1Files(true), slices.Concat(common, onV1, []step{unified, root})},
		{"no groups", hostFiles(), slices.Concat(common, []step{processes})},
	} {
		t.Run(c.name, func(t *testing.T) { checkSteps(t, c.files, c.steps) })
	}
}

func checkSteps(t *testing.T, files map[string]string, steps []step) {
	root := plant(t, files)
	s := open(t, targetIn(t, root))
	before := s.Read(nil)
	want := map[string]float64{}
	for _, c := range steps {
		change(t, root, c.file, c.old, c.new)
		maps.Copy(want, c.want)
	}
	values := s.Values(before, s.Read(nil))
	for name, x := range want {
		got, ok := values[name].Get()
		if !ok || math.Abs(got-x) > 1e-9*max(1, x) {
			t.Errorf("%s is %v, want %v", name, values[name], x)
		}
	}
}

// TestTruncatedFiles cuts off every file in many places. A value is then missing with a reason,
// or unchanged because it precedes the cut.
func TestTruncatedFiles(t *testing.T) {
	for name, files := range trees() {
		root := plant(t, files)
		s := open(t, targetIn(t, root))
		for file, text := range files {
			for n := 0; n < len(text); n += 1 + n*(len(text)-n-1)/len(text)/4 {
				before := s.Read(nil)
				after := cut(t, filepath.Join(root, file), n, s)
				for m, v := range s.Values(before, after) {
					checkCut(t, fmt.Sprintf("%s: %s cut to %d bytes: %s", name, file, n, m), m, v)
				}
			}
		}
	}
}

// cut reads while the file is cut off to n bytes, and restores it.
func cut(t *testing.T, path string, n int, s *Set) []float64 {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := os.ReadFile(path)
	err = errors.Join(err, f.Truncate(int64(n)))
	after := s.Read(nil)
	if _, werr := f.WriteAt(text, 0); err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	return after
}

func checkCut(t *testing.T, what, metric string, v record.Value) {
	t.Helper()
	levels := map[string]float64{"memory.used": 12345678, "self.memory": 8000 << 10, "self.max_memory": 9000 << 10}
	x, known := v.Get()
	if known && x != levels[metric] && !strings.HasPrefix(metric, "self.") || !known && said.English(v.Reason()) == "" {
		t.Errorf("%s is %v", what, v)
	}
}

func TestBackwardsIsAReason(t *testing.T) {
	root := plant(t, v2Files())
	s := open(t, targetIn(t, root))
	before := s.Read(nil)
	change(t, root, "sys/fs/cgroup/tare-x/arm/cpu.stat", "usage_usec 5000000", "usage_usec 4000000")
	if v := s.Values(before, s.Read(nil))["cpu.time"]; !strings.Contains(said.English(v.Reason()), "backwards") {
		t.Errorf("a counter that ran backwards gave %v", v)
	}
	if v := s.Values(nil, before)["cpu.time"]; said.English(v.Reason()) == "" {
		t.Errorf("no reading before gave %v", v)
	}
}

func TestReasonsSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		name  string
		want  string
	}{
		{hostFiles(), "io.read", "this arm has no control group"},
		{v1Files(false), "pressure.cpu.some", "no control group of version 2"},
		{v1Files(true), "memory.scanned", "version 1"},
		{without(hostFiles(), "proc/self/schedstat"), "cpu.wait", "CONFIG_SCHED_INFO"},
		{without(v1Files(true), "blkio"), "io.read", "no blkio group"},
		{without(v2Files(), "cpu.pressure"), "pressure.cpu.full", "this kernel has no cpu.pressure"},
		{without(hostFiles(), "proc/4242"), "faults.minor", "stat"},
		{without(hostFiles(), "sys/block/vda"), "disk.read", "no disk"},
	} {
		s := open(t, targetIn(t, plant(t, c.files)))
		before := s.Read(nil)
		if v := s.Values(before, s.Read(nil))[c.name]; !strings.Contains(said.English(v.Reason()), c.want) {
			t.Errorf("%s: %v, want a reason with %q", c.name, v, c.want)
		}
	}
	zeros := hostFiles()
	zeros["proc/self/schedstat"] = "0 0 0\n"
	s := open(t, targetIn(t, plant(t, zeros)))
	if v := s.Values(s.Read(nil), s.Read(nil))["cpu.wait"]; !strings.Contains(said.English(v.Reason()), "zeros") {
		t.Errorf("a kernel that does not count: %v", v)
	}
}

// TestBlkioThatIsNotCounted: "Total 0" is zero only where the root group lists
// the disks.
func TestBlkioThatIsNotCounted(t *testing.T) {
	for root, want := range map[string]string{
		"Total 0\n":                          "counts no block I/O",
		"7:0 Read 0\n7:0 Write 0\nTotal 0\n": "counts no block I/O",
		"254:0 Read 9\nTotal 9\n":            "",
	} {
		files := v1Files(true)
		files["sys/fs/cgroup/blkio/blkio.throttle.io_serviced"] = root
		for _, f := range []string{"blkio.throttle.io_service_bytes_recursive", "blkio.throttle.io_serviced"} {
			files["sys/fs/cgroup/blkio/tare-x/arm/"+f] = "Total 0\n"
		}
		s := open(t, targetIn(t, plant(t, files)))
		before := s.Read(nil)
		v := s.Values(before, s.Read(nil))["io.writes"]
		if _, known := v.Get(); known != (want == "") || !strings.Contains(said.English(v.Reason()), want) {
			t.Errorf("root group %q: %v, want %q", root, v, want)
		}
	}
}

// without removes the files whose paths contain a word.
func without(files map[string]string, word string) map[string]string {
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.Contains(name, word) })
	return files
}

func TestThreadsComeAndGo(t *testing.T) {
	root := plant(t, v2Files())
	target := targetIn(t, root)
	target.Pids = nil
	s := open(t, target)
	before := s.Read(nil)
	value := func() record.Value { return s.Values(before, s.Read(nil))["cpu.turns"] }
	at := func(name string) string { return filepath.Join(root, name) }
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const list = "sys/fs/cgroup/tare-x/arm/cgroup.threads"
	write("proc/4250/schedstat", "1 1 100\n")
	write("proc/4250/status", "voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n")
	for i, c := range []struct {
		list string
		want float64
	}{
		{"4242\n4243\n4250\n", 100}, // a new thread counts from its birth
		{"4242\n4243\n", 100},       // an ended thread stays in the sum
		{"4243\n", 100},
	} {
		write(list, c.list)
		if got, ok := value().Get(); !ok || got != c.want {
			t.Errorf("step %d: %v, want %v", i, value(), c.want)
		}
	}
	write(list, "")
	if v := value(); v.Reason() != noneLeft {
		t.Errorf("nobody left: %v", v)
	}
}

func TestNoHost(t *testing.T) {
	target := targetIn(t, plant(t, hostFiles()))
	target.Host = false
	s := open(t, target)
	before := s.Read(nil)
	for _, name := range []string{"cpu.steal", "cpu.foreign", "disk.read", "net.handled"} {
		if v := s.Values(before, s.Read(nil))[name]; said.English(v.Reason()) != (Target{}).notHost().Error() {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestFacts(t *testing.T) {
	got, err := Facts(targetIn(t, plant(t, hostFiles())))
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Setting{
		{Name: "seccomp", Got: "filter"},
		{Name: "seccomp.filters", Got: "3"},
		{Name: "speculation.store_bypass", Got: "thread force mitigated"},
		{Name: "capabilities.effective", Got: "00000000a80425fb"},
		{Name: "oom_score_adj", Got: "900"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("facts: %v", got)
	}
	if got, err := Facts(targetIn(t, plant(t, nil))); err == nil {
		t.Errorf("facts of an empty tree: %v", got)
	}
	if got, err := Facts(Target{Root: "/", Pids: []int{os.Getpid()}}); err != nil || got[0].Got == "" {
		t.Errorf("facts of this process: %v, %v", got, err)
	}
}

// The manifest names by what an arm competes for CPUs.
func TestCompetes(t *testing.T) {
	root := plant(t, map[string]string{
		"/proc/7/autogroup": "/autogroup-25 nice -3\n", "/proc/7/cgroup": "3:cpu,cpuacct:/tare-r-host.parent/host\n0::/x\n",
		"/proc/8/cgroup": "0::/\n", "/proc/self/mountinfo": "",
	})
	want := []record.Setting{{Name: autogroup, Got: "25, nice -3"}, {Name: "cpu.cgroup", Got: "/tare-r-host.parent/host"}}
	if got := Competes(root, 7); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Competes(root, 8); len(got) > 0 {
		t.Errorf("on a kernel without both: %v", got)
	}
}
