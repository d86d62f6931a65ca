package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// group is the change that makes a control group.
func group(path string, detail ...messages.Message) facts.Change {
	return facts.Changed(messages.Say("change.group", "path", path), detail...)
}

// Groups of several hierarchies of version 1 are one line; nothing else is merged.
func TestTogether(t *testing.T) {
	directory := facts.Changed(messages.Say("change.directory", "path", "/var/tmp/tare-RUN/tare-RUN-a"), messages.Say("change.directory.data"))
	limits := []messages.Message{messages.Say("change.group.controllers", "list", []string{"cpu", "memory"}), messages.Say("change.group.quota", "n", 1.5)}
	neighbour := messages.Say("change.group.neighbour")
	rows := changeRows([]changesOf{{"a", []facts.Change{
		directory,
		group("/sys/fs/cgroup/unified/tare-RUN/a", limits...),
		group("/sys/fs/cgroup/cpu,cpuacct/tare-RUN/a", limits...),
		group("/sys/fs/cgroup/memory/tare-RUN/a", limits...),
		group("/sys/fs/cgroup/unified/tare-RUN/a-outside", messages.Say("change.group.outside")),
		group("/sys/fs/cgroup/memory/tare-RUN-a.neighbour", neighbour),
		group("/sys/fs/cgroup/pids/tare-RUN-a.neighbour", neighbour),
		group("/mnt/pids/tare-RUN-a.neighbour", neighbour),
		group("/sys/fs/cgroup/x/kubepods", messages.Say("change.plain", "text", "not of tare's names")),
	}}}, messages.Catalog{})
	want := [][3]string{
		{"a", "directory /var/tmp/tare-RUN/tare-RUN-a", "its own data directory"},
		{"", "cgroup /sys/fs/cgroup/*/tare-RUN/a", "* is unified, cpu,cpuacct, memory; a quota of 1.5 CPUs"},
		{"", "cgroup /sys/fs/cgroup/unified/tare-RUN/a-outside", "for what runs beside the arm"},
		{"", "cgroup /sys/fs/cgroup/*/tare-RUN-a.neighbour", "for the neighbour, with limits; * is memory, pids"},
		{"", "cgroup /mnt/pids/tare-RUN-a.neighbour", "for the neighbour, with limits"},
		{"", "cgroup /sys/fs/cgroup/x/kubepods", "not of tare's names"},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}

// A count of changes has each kind once, without what is known in the run alone, in either language.
func TestChangesInWords(t *testing.T) {
	say := messages.Say
	all := []changesOf{{"a", []facts.Change{
		facts.Changed(say("change.directory", "path", "/var/tmp/tare-RUN/a")), facts.Changed(say("change.directory", "path", "/var/tmp/tare-RUN/b")),
		facts.Changed(say("change.directory.on", "name", "tare-RUN-a", "path", "srv:/x")), group("/sys/fs/cgroup/tare-RUN/a"), facts.Changed(say("change.overlay")),
		facts.Changed(say("change.pod", "name", "tare-a", "space", "tare-RUN")), facts.Changed(say("change.mounted", "system", "tmpfs", "path", "/x/mnt")),
	}}}
	for language, want := range map[messages.Language]string{
		messages.English: "2 × directory below /var/tmp, directory, control group, overlay mount, pod, tmpfs",
		messages.Chinese: "2 × /var/tmp 下的目录、目录、cgroup、overlay 挂载、Pod、tmpfs",
	} {
		if got := changesInWords(all, messages.In(language)); got != want {
			t.Errorf("%s: %s, want %s", language, got, want)
		}
		if got := changesInWords(nil, messages.In(language)); got != messages.In(language).Text("change.none") {
			t.Errorf("%s: %s", language, got)
		}
	}
}

// atTheTop finds groups beside system.slice, not those below a user's.
func TestAtTheTop(t *testing.T) {
	directory := facts.Changed(messages.Say("change.directory", "path", "/sys/fs/cgroup/tare-RUN"))
	for path, want := range map[string]bool{
		"/sys/fs/cgroup/tare-RUN/a": true, "/sys/fs/cgroup/cpu,cpuacct/tare-RUN": true,
		"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/x.scope/tare-RUN/a": false, "/sys/fs/cgroup/cpu/docker/1/tare-RUN": false,
	} {
		if got := hasTopGroup([]changesOf{{"a", []facts.Change{directory, group(path)}}}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// changing is an environment with a change.
type changing struct {
	environment.Environment
	group string
}

func (c changing) Changes(environment.Spec) []facts.Change {
	return []facts.Change{group(c.group, messages.Say("change.plain", "text", "plain"))}
}

func (changing) Capabilities() (c environment.Capabilities) { return c }

// The plan of root's run says below the changes what the groups weigh. A user's plan does not.
func TestPlanOfGroups(t *testing.T) {
	weigh := "  " + messages.In(messages.English).Text("plan.weight") + "\n"
	for path, want := range map[string]bool{
		"/sys/fs/cgroup/tare-RUN/a": true,
		"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/x.scope/tare-RUN/a": false,
	} {
		arm := plan.PlannedArm{Arm: record.Arm{Name: "a"}, Env: changing{group: path}}
		built := &plan.Plan{Loads: []plan.Load{{Workload: record.Workload{Name: "w", Kind: "rpc", Baseline: "a"}, Arms: []plan.PlannedArm{arm}}}}
		p := &sheet{width: 200, piped: true, c: &console{color: "never"}}
		p.plan(built, "title")
		_, below, ok := strings.Cut(p.String(), "  a  cgroup "+path+"  plain\n")
		if !ok || strings.HasPrefix(below, weigh) != want || strings.Contains(p.String(), "default weight") != want {
			t.Errorf("%s:\n%s", path, p.String())
		}
	}
}

// Rows too wide for a terminal are wrapped without loss.
func TestColumnsFit(t *testing.T) {
	rows := [][3]string{
		{"host", "the host itself, nothing added", "baseline"},
		{"container", "a real container through runc or crun, with Docker's defaults", "remainder over security"},
		{"", "overlay mount", "over / in the load's own mount namespace; the host sees none of it"},
	}
	for _, width := range []int{50, 80, 120, 200} {
		p := &sheet{c: &console{}, width: width}
		p.columns(rows)
		text := p.String()
		if all := strings.Join(strings.Fields(text), " "); !strings.Contains(all, "the host itself, nothing added baseline container a real") || !strings.HasSuffix(all, "the host sees none of it") {
			t.Errorf("%d: %s", width, text)
		}
		for _, l := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(l) >= width {
				t.Errorf("%d columns: %q", width, l)
			}
		}
	}
}
