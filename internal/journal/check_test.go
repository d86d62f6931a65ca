package journal

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/ceph"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// itsOwn are steps of the kinds that tare writes, with names as it makes them, of the run r.
func itsOwn() []Step {
	image := ceph.Image{Pool: ceph.Pool{Config: "/etc/ceph/ceph.conf", Name: "rbd"}, Name: "x-tare-r-host"}
	return []Step{
		Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/cpu/tare-r", "/sys/fs/cgroup/cpu/tare-r/host"}}),
		Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/user.slice/tare-r-plain", "/sys/fs/cgroup/user.slice/tare-r-plain/prepare"}}),
		Group(cgroup.Plan{
			Dirs: []string{"/sys/fs/cgroup/tare-r-host.neighbour"}, Enable: []string{"cpu", "net_cls"},
			EnableAt: "/sys/fs/cgroup", Leaf: "/sys/fs/cgroup/tare-self",
			Pinned: []cgroup.Pinned{{TID: 7, Start: 3, CPUs: []int{0, 1023}}},
		}),
		Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/kubepods.slice/pod1/c/tare-r"}}),
		Mount("/run/tare/tare-r-host.volume"), Mount("/var/tmp/tare-r/tare-r-host.volume/mnt"), Directory("/var/tmp/tare-r"),
		Directory("/var/tmp/tare-r/tare-r-host"),
		Runtime("/tmp/tare-r-0badcafe"), {Kind: kindClass, Path: "/sys/fs/resctrl/tare-r-host"}, {Kind: kindProcess, Pid: 2, Start: 1},
		Container("/usr/sbin/runc", "/var/tmp/tare-r/tare-r-container/runtime", "tare-r-container-1"),
		Container("/usr/bin/crun", "/x/tare-r-c/runtime", "tare-r-c-12"),
		Engine("docker", "unix:///var/run/docker.sock", "tare-r-docker"), Engine("docker", "tcp://127.0.0.1:2376", "tare-r-docker"),
		Engine("podman", "/usr/bin/podman", "tare-r-podman"),
		Image(image), Mapping(image), Share("server:/x", "vers=4.2", "/x/tare-r-host.volume/mnt", "tare-r-host.volume"),
		CephDirectory(":/", "", "/x/tare-r-a/mnt", "tare-r-a"),
		Namespace("/root/.kube/config", "c", "tare-r"), Pods("/k", "", "team", "r"),
		PodImage("/run/containerd/containerd.sock", "localhost/tare:r"),
	}
}

// anothers are steps that no tare has written for the run r, and would do harm.
func anothers() []Step {
	group := func(change func(*cgroup.Plan)) Step {
		p := cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r"}, Enable: []string{"cpu"}, EnableAt: "/sys/fs/cgroup"}
		change(&p)
		return Group(p)
	}
	const root, id = "/x/tare-r-c/runtime", "tare-r-c-1"
	return []Step{
		{Kind: kindGroup}, Group(cgroup.Plan{}), Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/system.slice"}}),
		Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r2/host"}}),
		Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r/../system.slice"}}),
		Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r", "/sys/fs/cgroup/user.slice"}}),
		Group(cgroup.Plan{Dirs: []string{"tare-r"}}), Group(cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-self"}}),
		group(func(p *cgroup.Plan) { p.EnableAt = "" }), group(func(p *cgroup.Plan) { p.EnableAt = "/sys/fs/cgroup/system.slice" }),
		group(func(p *cgroup.Plan) { p.EnableAt = "/sys/fs/cgroup/../cgroup" }),
		group(func(p *cgroup.Plan) { p.Leaf = "/sys/fs/cgroup/system.slice" }),
		group(func(p *cgroup.Plan) { p.Enable = []string{"cpu +memory"} }), group(func(p *cgroup.Plan) { p.Enable = []string{""} }),
		group(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{TID: 1, CPUs: []int{0}}} }),
		group(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{Start: 1}} }),
		group(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{TID: 1, Start: 1, CPUs: []int{-1}}} }),
		Mount("/x/tare-r2/mnt"), Mount("/x/tare-/mnt"), Mount("/x/tare-r/../mnt"), Mount("/x/not-tare-r/mnt"), Mount("x/tare-r"), Mount(""),
		Directory("/x/tare-r/"), Directory("/x/tare-r/../tare-r"), Directory("/x/tare-r/.."), Directory(""),
		{Kind: kindClass, Path: "/sys/fs/resctrl/tare-r2"}, Runtime("/tmp/tare-r2"),
		Container("", "", ""), Container("/bin/sh", root, id), Container("/usr/sbin/runc", "", id),
		Container("/usr/sbin/runc", "/run/runc", id), Container("/usr/sbin/runc", root, "web"),
		Container("/usr/sbin/runc", root, "tare-r2-c-1"), Container("/usr/sbin/runc", root, "tare-r-c/../../x"),
		Container("/usr/sbin/runc", "/x/tare-r-c/..", id), Container("runc", root, id),
		Container("/usr/sbin/runc-wrapper", root, id), Container("/usr/sbin/runc/", root, id), Container("/x/../usr/sbin/runc", root, id),
		Engine("podman", "/usr/bin/podman/", id), Engine("podman", "/bin/sh", id), Engine("podman", "podman", id),
		Engine("docker", "/usr/bin/docker", id), Engine("", "unix:///x", id),
		Engine("docker", "", id), Engine("podman", "/usr/bin/podman", "web"), Engine("podman", "/usr/bin/podman", "tare-r2-c"),
		{Kind: kindProcess, Pid: 2}, {Kind: kindProcess, Pid: 1, Start: 1}, {Kind: kindProcess, Pid: -2, Start: 1},
		{Kind: kindImage, Path: "/c", ID: "x-tare-r-a"}, {Kind: kindMapping, Path: "/c", ID: "rbd/mine"},
		{Kind: kindImage, Path: "/c", ID: "x-tare-r-a/"}, {Kind: kindMapping, Path: "/c", ID: "rbd/x/x-tare-r-a"},
		Share("s:/x", "", "/x/tare-r2/mnt", "tare-r-a"), Share("s:/x", "", "/x/tare-r/mnt", "tare-r"),
		Namespace("/k", "", "default"), Namespace("/k", "", "tare-r2"), Pods("/k", "", "team", "r2"),
		PodImage("/s", "localhost/tare:r2"), PodImage("/s", "debian"),
	}
}

// What tare writes is taken back, and nothing else.
func TestCheck(t *testing.T) {
	for _, s := range itsOwn() {
		if err := errors.Join(s.check("r"), foreign(s, "r")); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		if s.check("r2") == nil && s.Kind != kindProcess {
			t.Errorf("another run took %+v", s)
		}
	}
	for _, s := range anothers() {
		if s.check("r") == nil {
			t.Errorf("took %+v %+v", s, s.Plan)
		}
	}
}

// FuzzParse: whatever a journal says, what is taken back has the run's name, and what ended
// with an earlier start of the machine is left alone.
func FuzzParse(f *testing.F) {
	header := line{Header: &Header{Schema: Schema, Run: "r", Boot: "x"}}
	for _, steps := range [][]Step{itsOwn(), anothers()} {
		lines := []line{header}
		for i, s := range steps {
			lines = append(lines, line{Step: &s, Token: Token(i + 1)})
			f.Add(write([]line{header, {Step: &s, Token: 1}}), uint8(i))
		}
		f.Add(write(append(lines, line{Done: 3})), uint8(0))
	}
	f.Add([]byte("{\"step\":null}\n{\"header\":{}}\n{"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, start uint8) {
		c, _ := parse(data)
		if c.whole > len(data) || c.whole < 0 {
			t.Errorf("whole %d of %d", c.whole, len(data))
		}
		for _, p := range c.steps {
			checkDue(t, p.step, since(start%3))
		}
	})
}

// Steps of fragments that are nearly right, which bytes seldom are.
func TestOnlyItsOwn(t *testing.T) {
	took := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 100 {
			s := stepOf(t)
			if checkDue(t, s, since(rapid.IntRange(0, 2).Draw(t, "start"))) {
				took[s.Kind]++
			}
		}
	})
	for _, s := range itsOwn() {
		if took[s.Kind] == 0 {
			t.Errorf("no %s step was taken: %v", s.Kind, took)
		}
	}
}

// stepOf draws a step, the half of its fields from one that is tare's.
func stepOf(t *rapid.T) Step {
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

// checkDue checks a step that is taken back in the name of the run r, and says whether it is.
func checkDue(t interface{ Errorf(string, ...any) }, s Step, start since) bool {
	due, err := s.due("r", start)
	if !due || err != nil {
		return false
	}
	if err := foreign(s, "r"); err != nil {
		t.Errorf("took %+v %+v: %v", s, s.Plan, err)
	}
	lives := []string{kindDirectory, kindRuntime, kindEngine, kindNamespace, kindPods, kindPodImage, kindImage, kindShare, kindCeph}
	if !slices.Contains(lives, s.Kind) && (start == sinceEarlier || start == sinceUnknown && s.Kind == kindProcess) {
		t.Errorf("took %+v of start %d", s, start)
	}
	return true
}

// foreign says what a step would touch that has no name of a run. It knows the names and
// nothing of the code that checks them.
func foreign(s Step, run string) error {
	part := regexp.MustCompile(`^tare-` + run + `-[^/]*$`).MatchString
	within := regexp.MustCompile(`^(/[^/]+)*/tare-` + run + `(-[^/]*)?(/[^/]+)*$`).MatchString
	itself := regexp.MustCompile(`^(/[^/]+)*/tare-` + run + `(-[^/]*)?$`).MatchString
	in := func(p string) bool { return within(p) && path.Clean(p) == p }
	ok := false
	switch s.Kind {
	case kindDirectory, kindRuntime, kindClass:
		ok = itself(s.Path) && in(s.Path)
	case kindMount:
		ok = in(s.Path)
	case kindGroup:
		return foreignPlan(*s.Plan, in)
	case kindProcess:
		ok = s.Pid > 1 && s.Start > 0
	case kindContainer:
		ok = regexp.MustCompile(`(?s)^/(.*/)?(runc|crun)$`).MatchString(s.Path) && path.Clean(s.Path) == s.Path && in(s.Root) && part(s.ID)
	case kindEngine:
		podman := regexp.MustCompile(`(?s)^/(.*/)?podman$`).MatchString(s.Root) && path.Clean(s.Root) == s.Root
		ok = part(s.ID) && (s.Value == "docker" && strings.Contains(s.Root, "://") || s.Value == "podman" && podman)
	case kindShare, kindCeph:
		ok = in(s.Path) && part(s.ID)
	case kindImage, kindMapping:
		ok = regexp.MustCompile(`^[^/]*/[^/]*-tare-` + run + `-[^/]*$`).MatchString(s.ID)
	case kindNamespace:
		ok = s.ID == "tare-"+run
	case kindPods:
		ok = regexp.MustCompile(`/tare-` + run + `$`).MatchString(s.ID)
	case kindPodImage:
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
