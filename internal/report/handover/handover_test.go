package handover

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/testing/remedytest"
	"github.com/tarelab/tare/record"
)

// everyKey has every key that a target has, with a valid value; target nil: all.
func everyKey(target *Target) (all []record.RemedySetting) {
	values := map[record.SettingKey]string{
		record.KeyCPUIdle: "1", record.KeyCPUWeight: "250", record.KeyCPUMax: "0.5", record.KeyCPUBurst: "0.2", record.KeyCPUSet: "0-1",
		record.KeySched: "idle", record.KeyIOWeight: "50", record.KeyIOBytes: "1048576", record.KeyMemoryHigh: "67108864",
		record.KeyMemoryMax: "134217728", record.KeyQoSLevel: "-1", record.KeyNetwork: "host", record.KeyConnect: "socket",
		record.KeyVolume: "bind", record.KeySeccomp: "unconfined", record.KeyPodClass: "guaranteed", record.KeyPodCPURequest: "1.5",
		record.KeyPodCPULimit: "2", record.KeyPodMemoryRequest: "134217728", record.KeyPodMemoryLimit: "268435456",
		record.KeyStorageClass: "local", record.KeyCPUManager: "static", record.KeyBufferPool: "268435456", record.KeyFlushMethod: "O_DIRECT",
		record.KeyIOCapacity: "400", record.KeySharedBuffers: "268435456",
	}
	for _, k := range record.SettingKeys() {
		on := record.OnLoad
		if slices.Contains([]record.SettingKey{record.KeyBufferPool, record.KeyFlushMethod, record.KeyIOCapacity, record.KeySharedBuffers}, k) {
			on = record.OnServer
		}
		if target == nil || slices.Contains(target.on, on) && target.forms[k].add != nil {
			all = append(all, record.RemedySetting{On: on, Key: k, Value: values[k]})
		}
	}
	return all
}

// every is the snippet with all keys of a target.
func every(t *testing.T, target Target) made {
	t.Helper()
	s := target.Of(thing(t), everyKey(&target), nil)
	if len(s.Lines) == 0 {
		t.Fatalf("%+v", s)
	}
	return made{remedy: "every key", on: record.OnLoad, Snippet: s}
}

// defaults is the snippet with the default of all keys for which a target can write it.
func defaults(t *testing.T, target Target) made {
	t.Helper()
	all := slices.DeleteFunc(everyKey(&target), func(s record.RemedySetting) bool { return target.forms[s.Key].unset == nil })
	for i := range all {
		all[i].Value = ""
	}
	s := target.Of(thing(t), all, nil)
	if len(s.Lines) == 0 {
		t.Fatalf("%+v", s)
	}
	return made{remedy: "defaults", on: record.OnLoad, Snippet: s}
}

// checkAnswered: each setting of a subject of the target has a part in the lines or a reason, and what has lines
// has its way back.
func checkAnswered(t *testing.T, name string, target Target, apply []record.RemedySetting, got Snippet) {
	t.Helper()
	var own []record.SettingKey
	for _, s := range apply {
		if slices.Contains(target.on, s.On) {
			own = append(own, s.Key)
		}
	}
	for _, s := range got.Skipped {
		if s.Reason.IsZero() || !slices.Contains(own, s.Key) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	lines := len(got.Lines) > 0
	if lines != (len(got.Check) > 0) {
		t.Errorf("%s: %v is read back by %v", name, got.Lines, got.Check)
	}
	if lines == (len(got.Skipped) == len(own)) || lines != (len(got.Undo) > 0) || !lines && len(got.Then)+len(got.Notes) > 0 || lines && (got.File != "") != (len(got.Then) > 0) {
		t.Errorf("%s, settings %v: %+v", name, own, got)
	}
	for _, l := range slices.Concat(got.Lines, got.Then, got.Check, got.Undo) {
		if strings.TrimSpace(l) == "" || strings.Contains(l, "%!") || strings.HasPrefix(l, "[Container] ") {
			t.Errorf("%s: line %q", name, l)
		}
	}
}

// Every key has lines or a reason in every target that is about its subject.
func TestEveryKeyIsAnswered(t *testing.T) {
	for _, target := range Targets() {
		for _, s := range everyKey(nil) {
			apply := []record.RemedySetting{s}
			checkAnswered(t, target.Name+", "+string(s.Key), target, apply, target.Of(Thing{}, apply, nil))
			apply[0].Value = ""
			checkAnswered(t, target.Name+", default of "+string(s.Key), target, apply, target.Of(Thing{}, apply, nil))
		}
	}
}

// A value that would be more than a value is in no line.
func TestValuesAreValues(t *testing.T) {
	for _, target := range Targets() {
		for _, s := range everyKey(&target) {
			for _, end := range []string{"; id", "'", "\n", "$(id)", "`id`", " x"} {
				bad := s
				bad.Value += end
				for _, got := range []Snippet{target.Of(Thing{}, []record.RemedySetting{bad}, nil), target.Of(Thing{}, []record.RemedySetting{s}, []record.RemedySetting{bad})} {
					if len(got.Lines) > 0 || len(got.Skipped) != 1 || got.Skipped[0].Reason != noValue {
						t.Errorf("%s, %+v: %+v", target.Name, bad, got)
					}
				}
			}
		}
	}
}

// thing is what the snippets of the tests are for.
func thing(t *testing.T) Thing {
	t.Helper()
	return Thing{Name: "db", Image: "example.org/none", Data: "/data", Socket: "/run/db", Device: device(t)}
}

// made is a snippet of a remedy.
type made struct {
	remedy string // and the arm that lost
	on     record.SettingOn
	Snippet
}

var subjects = []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer}

// all are the snippets of a target for every remedy on every arm that lost, those with the same lines once.
func all(t *testing.T, target Target) (out []made) {
	t.Helper()
	seen := map[string]bool{}
	losses := remedytest.Losses(t)
	for _, r := range remedy.All() {
		for _, shape := range slices.Sorted(maps.Keys(losses)) {
			trial, ok := r.On(losses[shape])
			if !ok {
				continue
			}
			for _, on := range subjects {
				other := func(s record.RemedySetting) bool { return s.On != on }
				apply := slices.DeleteFunc(slices.Clone(trial.Apply), other)
				undo := slices.DeleteFunc(slices.Clone(trial.Undo), other)
				name := target.Name + ", " + r.Name + " on " + shape
				s := target.Of(thing(t), apply, undo)
				if len(apply) > 0 && slices.Contains(target.on, on) {
					checkAnswered(t, name, target, apply, s)
				}
				if text := r.Name + string(on) + strings.Join(s.Lines, "\n"); len(s.Lines) > 0 && !seen[text] {
					seen[text] = true
					out = append(out, made{r.Name + " on " + shape, on, s})
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has lines for no remedy", target.Name)
	}
	return out
}

// Every remedy has lines for one target at least; those without are about files that no target writes.
func TestEveryRemedyHasLines(t *testing.T) {
	without := map[string]string{
		"qos-level":     "only a write into the control group sets cpu.qos_level",
		"storage-class": "a claim keeps its class: the data must be copied to another claim",
	}
	has := map[string][]string{}
	for _, target := range Targets() {
		for _, m := range all(t, target) {
			name, _, _ := strings.Cut(m.remedy, " ")
			if !slices.Contains(has[name], target.Name) {
				has[name] = append(has[name], target.Name)
			}
		}
	}
	for _, r := range remedy.All() {
		if _, none := without[r.Name]; none == (len(has[r.Name]) > 0) {
			t.Errorf("%s: %v", r.Name, has[r.Name])
		}
		t.Log(r.Name, has[r.Name])
	}
}

// shares are the part of the kernel's default that the weight is, and no runtime's rule. What the runtime makes of
// them is read from the kernel, with every target that has shares.
func TestSharesAreReadBack(t *testing.T) {
	for weight, want := range map[string]string{"1": "10", "50": "512", "100": "1024", "10000": "102400"} {
		if got := shares(weight); got != want {
			t.Errorf("weight %s is %s shares, want %s", weight, got, want)
		}
	}
	for _, target := range Targets() {
		s := target.Of(Thing{Name: "db"}, []record.RemedySetting{{On: record.OnLoad, Key: record.KeyCPUWeight, Value: "50"}}, nil)
		text := strings.Join(s.Lines, "\n")
		if has := strings.Contains(text, "shares"); has != slices.Contains(s.Notes, converted("50")) {
			t.Errorf("%s: %+v", target.Name, s)
		}
	}
}

// With control groups of version 1 no line needs version 2, and what is read back is where version 1 has it.
func TestVersionsOfControlGroups(t *testing.T) {
	for _, target := range Targets() {
		for _, s := range everyKey(&target) {
			if len(target.Of(Thing{Cgroup: "v2"}, []record.RemedySetting{s}, nil).Lines) == 0 {
				continue
			}
			for _, version := range []string{"v1", "hybrid", "v2", ""} {
				got := target.Of(Thing{Cgroup: version}, []record.RemedySetting{s}, nil)
				text := strings.Join(slices.Concat(got.Lines, got.Then, got.Check, got.Undo), "\n")
				old := version == "v1" || version == "hybrid"
				for _, word := range []string{"--cgroup-conf", "CPUWeight=idle", "AllowedCPUs", "MemoryHigh", "/etc/containers/systemd"} {
					if old && strings.Contains(text, word) {
						t.Errorf("%s, %s with %s: %s", target.Name, s.Key, version, text)
					}
				}
				if len(got.Lines) == 0 && (!old || got.Skipped[0].Reason != needsVersion2) {
					t.Errorf("%s, %s with %q: %+v", target.Name, s.Key, version, got)
				}
				if at := regexp.MustCompile(`/sys/fs/cgroup(/(cpu|cpuset|memory|blkio)(\$|/))?`).FindStringSubmatch(text); at != nil && (at[1] != "") != old && !strings.Contains(text, "/sys/fs/cgroup$") {
					t.Errorf("%s, %s with %q is read at %s", target.Name, s.Key, version, text)
				}
			}
		}
	}
}

// Files that add to others have a name that is read last.
func TestFilesAreReadLast(t *testing.T) {
	for _, target := range Targets() {
		for _, s := range everyKey(&target) {
			file := target.Of(Thing{}, []record.RemedySetting{s}, nil).File
			if !strings.Contains(filepath.Dir(file), ".d") {
				continue
			}
			for _, other := range []string{"50-server.cnf", "50-CPUQuota.conf", "99-last.conf", "override.conf", "server.cnf", "z.conf"} {
				if filepath.Base(file) < other {
					t.Errorf("%s: %s is read before %s", target.Name, file, other)
				}
			}
		}
	}
}

// What an engine or systemd sets while the thing runs ends nothing and starts nothing anew.
func TestLiveSettings(t *testing.T) {
	anew := regexp.MustCompile(`\b(restart|stop|rm --force|run --detach|rename)\b`)
	live := map[string][]record.SettingKey{
		"docker": {record.KeyCPUMax, record.KeyCPUWeight, record.KeyCPUSet, record.KeyMemoryMax}, "podman": {record.KeyCPUMax, record.KeyCPUWeight, record.KeyCPUSet, record.KeyMemoryMax},
		"systemd": {record.KeyCPUMax, record.KeyCPUWeight, record.KeyCPUSet, record.KeyMemoryMax, record.KeyCPUIdle, record.KeyMemoryHigh, record.KeyIOWeight},
	}
	for _, target := range Targets() {
		for _, key := range live[target.Name] {
			for _, s := range everyKey(&target) {
				for _, value := range []string{s.Value, ""} {
					if s.Key != key || value == "" && target.forms[key].unset == nil {
						continue
					}
					was := s
					s.Value, was.Value = value, map[string]string{"": s.Value}[value]
					got := target.Of(Thing{}, []record.RemedySetting{s}, []record.RemedySetting{was})
					if text := strings.Join(slices.Concat(got.Lines, got.Then, got.Undo), "\n"); len(got.Lines) == 0 || anew.MatchString(text) {
						t.Errorf("%s, %s=%s: %s", target.Name, key, value, text)
					}
				}
			}
		}
	}
}

func run(t *testing.T, ok bool, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// device is any block device of this host.
func device(t *testing.T) string {
	t.Helper()
	names, err := os.ReadDir("/sys/block")
	if err == nil {
		for _, n := range names {
			if path := "/dev/" + n.Name(); fileThere(path) {
				return path
			}
		}
	}
	t.Skip("no block device")
	return ""
}

func fileThere(path string) bool { _, err := os.Stat(path); return err == nil }

func write(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
