package probe

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

const pid = 4242 // of the process in the fixture trees, with threads 4242 and 4243

// hostFiles are the files outside of control groups, as a kernel writes them.
func hostFiles() map[string]string {
	thread := func(wait, turns, voluntary string) (schedstat, status string) {
		return "900000 " + wait + " " + turns + "\n",
			"Name:\tload\nSeccomp:\t2\nSeccomp_filters:\t3\nCapEff:\t00000000a80425fb\n" +
				"Speculation_Store_Bypass:\tthread force mitigated\n" +
				"voluntary_ctxt_switches:\t" + voluntary + "\nnonvoluntary_ctxt_switches:\t5\n"
	}
	sched1, status1 := thread("2000000", "11", "7")
	sched2, status2 := thread("3000000", "22", "8")
	return map[string]string{
		"proc/self/schedstat":           "354100 20 1\n",
		"proc/self/status":              "Name:\ttare\nVmHWM:\t    9000 kB\nVmRSS:\t    8000 kB\n",
		"proc/stat":                     "cpu  19159 0 18471 315140 475 0 7428 39 0 0\ncpu0 9403 0 8914 158315 141 0 3557 16 0 0\n",
		"proc/net/softnet_stat":         "00b1e355 0000000a 00000001\n00be9045 00000000 00000002\n",
		"proc/4242/stat":                "4242 (a) b) S 1 0 0 0 -1 4194560 39494 769361 7 841 83 397 2117 997 10 -10 2 0 24 50724864\n",
		"proc/4242/oom_score_adj":       "900\n",
		"proc/4242/schedstat":           sched1,
		"proc/4242/status":              status1,
		"proc/4242/task/4242/schedstat": sched1,
		"proc/4242/task/4243/schedstat": sched2,
		"proc/4243/schedstat":           sched2,
		"proc/4243/status":              status2,
		"proc/4242/net/snmp":            "Tcp: MaxConn OutSegs RetransSegs InErrs\nTcp: -1 24144552 37 0\n",
		"sys/block/vda/dev":             "254:0\n",
		"sys/block/vda/device/x":        "",
		"sys/block/vda/stat":            "  110692    10846  4497338    62336    21330    30950  2151976     8538        0     7968    71621     9669       65   794704      535     6416      211\n",
		"sys/block/loop0/stat":          "1 1 1 1 1 1 1 1 1 1 1\n",
	}
}

// pressureFiles are those of a group of version 2, with or without controllers.
func pressureFiles(dir string) map[string]string {
	of := func(some, full string) string {
		return "some avg10=0.00 avg60=0.03 avg300=0.06 total=" + some + "\nfull avg10=0.00 avg60=0.01 avg300=0.02 total=" + full + "\n"
	}
	return map[string]string{
		dir + "cpu.pressure":    of("1000000", "200000"),
		dir + "memory.pressure": of("3000", "2000"),
		dir + "io.pressure":     of("500000", "400000"),
		dir + "cgroup.procs":    "4242\n",
		dir + "cgroup.threads":  "4242\n4243\n",
	}
}

// v2Files are the groups of a host with version 2 only.
func v2Files() map[string]string {
	const dir = "sys/fs/cgroup/tare-x/arm/"
	m := hostFiles()
	maps.Copy(m, pressureFiles(dir))
	maps.Copy(m, map[string]string{
		dir + "cpu.stat": "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\nnice_usec 0\ncore_sched.force_idle_usec 0\n" +
			"nr_periods 100\nnr_throttled 10\nthrottled_usec 700000\nnr_bursts 0\nburst_usec 0\n",
		dir + "memory.stat": "anon 4096\nfile 8192\nworkingset_refault_anon 3\nworkingset_refault_file 40\npgscan 900\npgsteal 800\n" +
			"pgscan_kswapd 0\npgfault 5\npgmajfault 1\n",
		dir + "memory.events":  "low 0\nhigh 4\nmax 50\noom 1\noom_kill 1\noom_group_kill 0\n",
		dir + "memory.current": "12345678\n",
		dir + "io.stat":        "254:0 rbytes=1773568 wbytes=40960 rios=112 wios=7 dbytes=0 dios=0\n",
	})
	return m
}

// v1Files are the groups of a host with version 1; without the unified part
// there is no version 2 at all.
func v1Files(hybrid bool) map[string]string {
	const fs, arm = "sys/fs/cgroup/", "/tare-x/arm/"
	m := hostFiles()
	if hybrid {
		maps.Copy(m, pressureFiles(fs+"unified"+arm))
		m[fs+"unified"+arm+"cpu.stat"] = "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\nnice_usec 0\n"
	}
	memory, blkio := fs+"memory"+arm, fs+"blkio"+arm
	maps.Copy(m, map[string]string{
		fs + "cpu" + arm + "cpu.stat":                       "nr_periods 100\nnr_throttled 10\nthrottled_time 700000000\nnr_bursts 0\nburst_time 0\n",
		fs + "cpu" + arm + "cgroup.procs":                   "4242\n",
		fs + "cpu" + arm + "tasks":                          "4242\n4243\n",
		fs + "cpuacct/cpuacct.usage":                        "455000000000\n",
		fs + "cpuacct/release_agent":                        "\n",
		fs + "cpuacct" + arm + "cpuacct.usage":              "5000000000\n",
		fs + "cpuacct" + arm + "cpuacct.usage_user":         "4000000000\n",
		fs + "cpuacct" + arm + "cpuacct.usage_sys":          "1000000000\n",
		memory + "memory.stat":                              "cache 0\nworkingset_refault_anon 1\ntotal_cache 0\ntotal_workingset_refault_anon 3\ntotal_workingset_refault_file 40\n",
		memory + "memory.failcnt":                           "54\n",
		memory + "memory.oom_control":                       "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
		memory + "memory.usage_in_bytes":                    "12345678\n",
		blkio + "blkio.throttle.io_service_bytes_recursive": "254:0 Read 1773568\n254:0 Write 40960\n254:0 Total 1814528\nTotal 1814528\n",
		blkio + "blkio.throttle.io_serviced":                "254:0 Read 112\n254:0 Write 7\nTotal 119\n",
	})
	return m
}

// plant writes files below a fresh root.
func plant(t testing.TB, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// targetIn finds the arm's group in a planted tree.
func targetIn(t testing.TB, root string) Target {
	t.Helper()
	fs := filepath.Join(root, "sys/fs/cgroup")
	tree := &cgroup.Tree{V1: map[string]string{}}
	g := cgroup.Group{Tree: tree, Path: "tare-x/arm", Dirs: map[string]string{}}
	if dir := filepath.Join(fs, "tare-x/arm"); exists(dir) {
		for _, c := range []string{cgroup.Unified, "cpu", "cpuacct", "memory", "io", "blkio"} {
			g.Dirs[c] = dir
		}
	}
	mounts, _ := os.ReadDir(fs)
	for _, m := range mounts {
		if dir := filepath.Join(fs, m.Name(), "tare-x/arm"); exists(dir) {
			g.Dirs[m.Name()], tree.V1[m.Name()] = dir, filepath.Join(fs, m.Name())
		}
	}
	return Target{Root: root, Group: g, Pids: []int{pid}, Host: true}
}

// change replaces a text in one file, in place, so that open files see it.
func change(t testing.TB, root, name, old, new string) {
	t.Helper()
	path := filepath.Join(root, name)
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
