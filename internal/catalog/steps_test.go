package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

// flat is a step as journals of tare/journal/v1 have it: one type with the fields of all kinds.
type flat struct {
	Kind  string       `json:"kind"`
	Path  string       `json:"path,omitempty"`
	Value string       `json:"value,omitempty"`
	Plan  *cgroup.Plan `json:"plan,omitempty"`
	Pid   int          `json:"pid,omitempty"`
	Start uint64       `json:"start_ticks,omitempty"`
	Root  string       `json:"root,omitempty"`
	ID    string       `json:"id,omitempty"`
}

func group(p cgroup.Plan) flat   { return flat{Kind: "cgroup", Plan: &p} }
func mount(path string) flat     { return flat{Kind: "mount", Path: path} }
func directory(path string) flat { return flat{Kind: "directory", Path: path} }
func runtime(path string) flat   { return flat{Kind: "runtime", Path: path} }
func container(path, root, id string) flat {
	return flat{Kind: "container", Path: path, Root: root, ID: id}
}
func engine(name, host, id string) flat   { return flat{Kind: "engine", Value: name, Root: host, ID: id} }
func cephImage(config, image string) flat { return flat{Kind: "rbd", Path: config, ID: image} }
func cephMapping(config, image string) flat {
	return flat{Kind: "rbd-map", Path: config, ID: image}
}
func nfs(source, options, point, name string) flat {
	return flat{Kind: "nfs", Path: point, Root: source, Value: options, ID: name}
}
func cephfs(source, options, point, name string) flat {
	return flat{Kind: "cephfs", Path: point, Root: source, Value: options, ID: name}
}
func namespace(config, context, name string) flat {
	return flat{Kind: "namespace", Root: config, Value: context, ID: name}
}
func pods(config, context, id string) flat {
	return flat{Kind: "pods", Root: config, Value: context, ID: id}
}
func podImage(address, name string) flat { return flat{Kind: "image", Root: address, ID: name} }

// itsOwn returns steps of the kinds that tare writes for the run r, with names as tare makes them.
func itsOwn() []flat {
	const config, image = "/etc/ceph/ceph.conf", "rbd/x-tare-r-host"
	return []flat{
		group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/cpu/tare-r", "/sys/fs/cgroup/cpu/tare-r/host"}}),
		group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/user.slice/tare-r-plain", "/sys/fs/cgroup/user.slice/tare-r-plain/prepare"}}),
		group(cgroup.Plan{
			Dirs: []string{"/sys/fs/cgroup/tare-r-host.neighbour"}, Enable: []string{"cpu", "net_cls"},
			EnableAt: "/sys/fs/cgroup", Leaf: "/sys/fs/cgroup/tare-self",
			Pinned: []cgroup.Pinned{{TID: 7, Start: 3, CPUs: []int{0, 1023}}},
		}),
		group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/kubepods.slice/pod1/c/tare-r"}}),
		mount("/run/tare/tare-r-host.volume"), mount("/var/tmp/tare-r/tare-r-host.volume/mnt"), directory("/var/tmp/tare-r"),
		directory("/var/tmp/tare-r/tare-r-host"),
		runtime("/tmp/tare-r-0badcafe"), {Kind: "process", Pid: 2, Start: 1},
		container("/usr/sbin/runc", "/var/tmp/tare-r/tare-r-container/runtime", "tare-r-container-1"),
		container("/usr/bin/crun", "/x/tare-r-c/runtime", "tare-r-c-12"),
		engine("docker", "unix:///var/run/docker.sock", "tare-r-docker"), engine("docker", "tcp://127.0.0.1:2376", "tare-r-docker"),
		engine("podman", "/usr/bin/podman", "tare-r-podman"),
		cephImage(config, image), cephMapping(config, image), nfs("server:/x", "vers=4.2", "/x/tare-r-host.volume/mnt", "tare-r-host.volume"),
		cephfs(":/", "", "/x/tare-r-a/mnt", "tare-r-a"),
		namespace("/root/.kube/config", "c", "tare-r"), pods("/k", "", "team/tare-r"),
		podImage("/run/containerd/containerd.sock", "localhost/tare:r"),
	}
}

// anothers returns steps that no tare has written for the run r, and that would do harm.
func anothers() []flat {
	changed := func(change func(*cgroup.Plan)) flat {
		p := cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r"}, Enable: []string{"cpu"}, EnableAt: "/sys/fs/cgroup"}
		change(&p)
		return group(p)
	}
	const root, id = "/x/tare-r-c/runtime", "tare-r-c-1"
	return []flat{
		{Kind: "cgroup"}, group(cgroup.Plan{}), group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/system.slice"}}),
		group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r2/host"}}),
		group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r/../system.slice"}}),
		group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r", "/sys/fs/cgroup/user.slice"}}),
		group(cgroup.Plan{Dirs: []string{"tare-r"}}), group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-self"}}),
		changed(func(p *cgroup.Plan) { p.EnableAt = "" }), changed(func(p *cgroup.Plan) { p.EnableAt = "/sys/fs/cgroup/system.slice" }),
		changed(func(p *cgroup.Plan) { p.EnableAt = "/sys/fs/cgroup/../cgroup" }),
		changed(func(p *cgroup.Plan) { p.Leaf = "/sys/fs/cgroup/system.slice" }),
		changed(func(p *cgroup.Plan) { p.Enable = []string{"cpu +memory"} }), changed(func(p *cgroup.Plan) { p.Enable = []string{""} }),
		changed(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{TID: 1, CPUs: []int{0}}} }),
		changed(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{Start: 1}} }),
		changed(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{TID: 1, Start: 1, CPUs: []int{-1}}} }),
		mount("/x/tare-r2/mnt"), mount("/x/tare-/mnt"), mount("/x/tare-r/../mnt"), mount("/x/not-tare-r/mnt"), mount("x/tare-r"), mount(""),
		directory("/x/tare-r/"), directory("/x/tare-r/../tare-r"), directory("/x/tare-r/.."), directory(""),
		runtime("/tmp/tare-r2"),
		container("", "", ""), container("/bin/sh", root, id), container("/usr/sbin/runc", "", id),
		container("/usr/sbin/runc", "/run/runc", id), container("/usr/sbin/runc", root, "web"),
		container("/usr/sbin/runc", root, "tare-r2-c-1"), container("/usr/sbin/runc", root, "tare-r-c/../../x"),
		container("/usr/sbin/runc", "/x/tare-r-c/..", id), container("runc", root, id),
		container("/usr/sbin/runc-wrapper", root, id), container("/usr/sbin/runc/", root, id), container("/x/../usr/sbin/runc", root, id),
		engine("podman", "/usr/bin/podman/", id), engine("podman", "/bin/sh", id), engine("podman", "podman", id),
		engine("docker", "/usr/bin/docker", id), engine("", "unix:///x", id),
		engine("docker", "", id), engine("podman", "/usr/bin/podman", "web"), engine("podman", "/usr/bin/podman", "tare-r2-c"),
		{Kind: "process", Pid: 2}, {Kind: "process", Pid: 1, Start: 1}, {Kind: "process", Pid: -2, Start: 1},
		{Kind: "rbd", Path: "/c", ID: "x-tare-r-a"}, {Kind: "rbd-map", Path: "/c", ID: "rbd/mine"},
		{Kind: "rbd", Path: "/c", ID: "x-tare-r-a/"}, {Kind: "rbd-map", Path: "/c", ID: "rbd/x/x-tare-r-a"},
		nfs("s:/x", "", "/x/tare-r2/mnt", "tare-r-a"), nfs("s:/x", "", "/x/tare-r/mnt", "tare-r"),
		namespace("/k", "", "default"), namespace("/k", "", "tare-r2"), pods("/k", "", "team/tare-r2"),
		podImage("/s", "localhost/tare:r2"), podImage("/s", "debian"),
	}
}

// text returns a step as it is in a journal.
func (s flat) text() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// asWritten returns a step as an older version reads it. It has only the fields of its kind.
func asWritten(s journal.Step) (f flat, text []byte, err error) {
	if text, err = journal.Text(s); err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err = d.Decode(&f)
	}
	return f, text, err
}

// Steps as tare has always written them are accepted and written again as the same bytes. No other
// step is accepted.
func TestCheck(t *testing.T) {
	kinds := map[string]bool{}
	for _, f := range itsOwn() {
		kinds[f.Kind] = true
		s, err := catalog.Steps().Read(f.text())
		if err != nil {
			t.Fatalf("%s: %v", f.text(), err)
		}
		if err := errors.Join(s.Check("r"), foreign(f, "r")); err != nil {
			t.Errorf("%s: %v", f.text(), err)
		}
		if s.Check("r2") == nil && f.Kind != "process" {
			t.Errorf("another run took %s", f.text())
		}
		if _, text, err := asWritten(s); err != nil || string(text) != string(f.text()) {
			t.Errorf("%s is written as %s: %v", f.text(), text, err)
		}
	}
	if len(kinds) != len(catalog.Steps()) {
		t.Errorf("%d kinds are tried, and there are %d", len(kinds), len(catalog.Steps()))
	}
	for _, f := range anothers() {
		if s, err := catalog.Steps().Read(f.text()); err != nil || s.Check("r") == nil {
			t.Errorf("took %s: %v", f.text(), err)
		}
	}
}

// FuzzSteps: whatever a journal says, a step that is undone has the run's name.
func FuzzSteps(f *testing.F) {
	for _, s := range slices.Concat(itsOwn(), anothers()) {
		f.Add(s.text())
	}
	f.Add([]byte(`{"kind":"mount","Kind":"directory","path":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := catalog.Steps().Read(text); err == nil {
			taken(t, s)
		}
	})
}

// These are steps of fragments that are nearly right; random bytes seldom are.
func TestOnlyItsOwn(t *testing.T) {
	took := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 100 {
			s, err := catalog.Steps().Read(stepOf(t).text())
			if err != nil {
				t.Fatal(err)
			}
			if taken(t, s) {
				took[s.Kind()]++
			}
		}
	})
	for _, s := range itsOwn() {
		if took[s.Kind] == 0 {
			t.Errorf("no %s step was taken: %v", s.Kind, took)
		}
	}
}

// lasting lists the kinds of changes that a restart of the machine does not end.
var lasting = []string{"directory", "runtime", "engine", "namespace", "pods", "image", "rbd", "nfs", "cephfs"}

// taken checks a step that was accepted for the run r, and says whether it was.
func taken(t interface{ Errorf(string, ...any) }, s journal.Step) bool {
	if s.Check("r") != nil {
		return false
	}
	f, text, err := asWritten(s)
	if err == nil {
		err = foreign(f, "r")
	}
	if err != nil {
		t.Errorf("took %s: %v", text, err)
	}
	if lasts := slices.Contains(lasting, s.Kind()); s.Lasts() != lasts {
		t.Errorf("%s lasts: %v", text, s.Lasts())
	}
	return true
}

// stepOf draws a step; half of its fields come from a step that tare writes.
func stepOf(t *rapid.T) flat {
	s := rapid.SampledFrom(itsOwn()).Draw(t, "like")
	wrong := func() bool { return rapid.IntRange(0, 5).Draw(t, "wrong") == 0 }
	some := rapid.SampledFrom([]string{
		"tare-r", "tare-r-a", "tare-r2", "tare-", "tare-self", "tare", "..", ".", "", "sys", "cgroup", "runc", "sh", "podman",
		"x-tare-r-a", "a b", "-r", "\x00",
	})
	name := func() string { return some.Draw(t, "name") }
	file := func() string {
		all := rapid.SliceOfN(some, 0, 4).Draw(t, "path")
		return rapid.SampledFrom([]string{"/", "/", "/", ""}).Draw(t, "from") + strings.Join(all, "/")
	}
	if wrong() {
		s.Path = file()
	}
	if wrong() {
		s.Root = file()
	}
	if wrong() {
		s.ID = file()
	}
	if wrong() {
		s.Value = name()
	}
	if wrong() {
		s.Pid, s.Start = rapid.IntRange(-2, 3).Draw(t, "pid"), rapid.Uint64Range(0, 2).Draw(t, "ticks")
	}
	if s.Plan == nil {
		return s
	}
	p := *s.Plan
	if wrong() {
		p.Dirs = append(slices.Clone(p.Dirs), file())
	}
	if wrong() {
		p.EnableAt = file()
	}
	if wrong() {
		p.Leaf = file()
	}
	if wrong() {
		p.Enable = []string{name()}
	}
	if wrong() {
		p.Pinned = []cgroup.Pinned{{
			TID: rapid.IntRange(-1, 2).Draw(t, "tid"), Start: rapid.Uint64Range(0, 1).Draw(t, "ticks"),
			CPUs: []int{rapid.IntRange(-1, 1).Draw(t, "cpu")},
		}}
	}
	s.Plan = &p
	return s
}

// foreign says what a step would touch that does not bear the name of a run. It knows the names and
// none of the code that checks them.
func foreign(s flat, run string) error {
	part := regexp.MustCompile(`^tare-` + run + `-[^/]*$`).MatchString
	within := regexp.MustCompile(`^(/[^/]+)*/tare-` + run + `(-[^/]*)?(/[^/]+)*$`).MatchString
	itself := regexp.MustCompile(`^(/[^/]+)*/tare-` + run + `(-[^/]*)?$`).MatchString
	in := func(p string) bool { return within(p) && path.Clean(p) == p }
	ok := false
	switch s.Kind {
	case "directory", "runtime":
		ok = itself(s.Path) && in(s.Path)
	case "mount":
		ok = in(s.Path)
	case "cgroup":
		return foreignPlan(*s.Plan, in)
	case "process":
		ok = s.Pid > 1 && s.Start > 0
	case "container":
		ok = regexp.MustCompile(`(?s)^/(.*/)?(runc|crun)$`).MatchString(s.Path) && path.Clean(s.Path) == s.Path && in(s.Root) && part(s.ID)
	case "engine":
		podman := regexp.MustCompile(`(?s)^/(.*/)?podman$`).MatchString(s.Root) && path.Clean(s.Root) == s.Root
		ok = part(s.ID) && (s.Value == "docker" && strings.Contains(s.Root, "://") || s.Value == "podman" && podman)
	case "nfs", "cephfs":
		ok = in(s.Path) && part(s.ID)
	case "rbd", "rbd-map":
		ok = regexp.MustCompile(`^[^/]*/[^/]*-tare-` + run + `-[^/]*$`).MatchString(s.ID)
	case "namespace":
		ok = s.ID == "tare-"+run
	case "pods":
		ok = regexp.MustCompile(`/tare-` + run + `$`).MatchString(s.ID)
	case "image":
		ok = regexp.MustCompile(`^[^:]*/tare:` + run + `$`).MatchString(s.ID)
	}
	if !ok {
		return errors.New("it is not the run's")
	}
	return nil
}

func foreignPlan(p cgroup.Plan, in func(string) bool) error {
	for _, dir := range p.Dirs {
		if !in(dir) {
			return fmt.Errorf("group %q", dir)
		}
	}
	if p.Leaf != "" && p.Leaf != path.Join(p.EnableAt, "tare-self") {
		return fmt.Errorf("processes of %q", p.Leaf)
	}
	there := func(dir string) bool { return strings.HasPrefix(dir, p.EnableAt+"/") && p.EnableAt != "" }
	if len(p.Enable)+len(p.Pinned) > 0 && !slices.ContainsFunc(p.Dirs, there) {
		return fmt.Errorf("controllers of %q", p.EnableAt)
	}
	for _, c := range p.Enable {
		if !regexp.MustCompile(`^[a-z_]+$`).MatchString(c) {
			return fmt.Errorf("controller %q", c)
		}
	}
	for _, t := range p.Pinned {
		if t.TID <= 0 || t.Start == 0 || slices.ContainsFunc(t.CPUs, func(cpu int) bool { return cpu < 0 }) {
			return fmt.Errorf("thread %+v", t)
		}
	}
	return nil
}

// The list has every type of a step in the program: a missing one would be written and never
// undone.
func TestNoKindIsMissing(t *testing.T) {
	kind := regexp.MustCompile(`\) Kind\(\) string +\{ return "([a-z-]+)" \}`)
	found := 0
	err := filepath.WalkDir("..", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte("*journal.Undoing")) {
			return err
		}
		for _, m := range kind.FindAllSubmatch(text, -1) {
			found++
			if _, err := catalog.Steps().Read(fmt.Appendf(nil, `{"kind":%q}`, m[1])); err != nil {
				t.Errorf("%s: kind %s is not in catalog.Steps: %v", file, m[1], err)
			}
		}
		return nil
	})
	if err != nil || found != len(catalog.Steps()) {
		t.Errorf("found %d kinds of %d: %v", found, len(catalog.Steps()), err)
	}
}
