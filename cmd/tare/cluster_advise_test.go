package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// advised is a pod that loses, with the remedies of which one has to be proved.
type advised struct {
	experiment string
	remedies   []string
	resources  string // of a deployment that has the same loss, as JSON
	batch      int    // pods of two processes beside it, each with as much weight as a pod of its class
	patch      string // in the line that applies the remedy
}

const throttled = `
budget: 150s
arms:
  free: {environment: "burstable:cpu=100m"}
  limited: {environment: "burstable:cpu=100m,cpu-limit=500m"}
baseline: free
workloads:
  work: {kind: oltp, params: {threads: 2}}
`

const besideBatch = `
budget: 150s
window: 400ms
neighbours:
  batch: {kind: spin, params: {threads: 6}, environment: besteffort, memory: 64MiB}
arms:
  alone: {environment: besteffort}
  beside: {environment: besteffort, neighbour: batch}
baseline: alone
workloads:
  work: {kind: oltp, params: {threads: 2}}
`

// A pod that is throttled, and one of class BestEffort beside a batch pod: the remedy is proved, its
// line, with kubectl, gives a running deployment its CPU time back, and the way back takes it.
func TestClusterAdvise(t *testing.T) {
	admin := kubetest.Need(t)
	testneed.Tool(t, "kubectl")
	testneed.Tool(t, "busybox")
	for name, tt := range map[string]advised{
		"throttled": {
			throttled, []string{"no-cpu-limit", "whole-cpus"},
			`{"requests":{"cpu":"100m"},"limits":{"cpu":"500m"}}`, 0, `"limits":{"cpu":`,
		},
		"beside a batch pod": {besideBatch, []string{"pod-requests", "pod-guaranteed"}, `{}`, 3, `"requests":{"cpu":`},
	} {
		t.Run(name, func(t *testing.T) {
			a, text := adviseOn(t, tt.experiment)
			loss := a.Losses[0]
			if loss.Standing != record.StandingProved || !slices.Contains(tt.remedies, loss.Candidates[*loss.Remedy].Remedies[0]) {
				t.Fatalf("%s: %s\n%s", loss.Standing, loss.Reason, text)
			}
			apply, undo := patchLines(t, text, tt.patch)
			d := deploy(t, admin, tt.resources, tt.batch)
			before := d.cpus()
			kubectl(t, apply...)
			d.roll()
			with := d.cpus()
			kubectl(t, undo...)
			d.roll()
			after := d.cpus()
			t.Logf("CPUs: %.2f, with the remedy %.2f, undone %.2f", before, with, after)
			if with < 1.4*before || with < 1.4*after {
				t.Errorf("%.2f, %.2f, %.2f CPUs", before, with, after)
			}
		})
	}
	for _, left := range admin.Left(t) {
		t.Errorf("left: %s", left)
	}
}

// adviseOn is the advice of an experiment, and its text with the lines to apply it.
func adviseOn(t *testing.T, experiment string) (record.Advice, string) {
	t.Helper()
	home := t.TempDir()
	file, dir := filepath.Join(home, "pods.yaml"), filepath.Join(home, "advice")
	if err := os.WriteFile(file, []byte(experiment), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := commandLine(t, home, "", "advise", file, "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a, err := record.ReadAdvice(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := commandLine(t, home, "", "advise", dir, "-v").Output()
	if err != nil || len(a.Losses) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	t.Logf("%s", text)
	return a, string(text)
}

var (
	patchLine = regexp.MustCompile(`kubectl patch (?:statefulset|deployment)/NAME --patch '(.*)'`)
	undoLine  = regexp.MustCompile(`kubectl rollout undo (?:statefulset|deployment)/NAME`)
)

// patchLines are the arguments of kubectl in the lines that apply a remedy and undo it, for the deployment
// of deploy.
func patchLines(t *testing.T, text, want string) (apply, undo []string) {
	t.Helper()
	m := patchLine.FindStringSubmatch(text)
	if m == nil || !strings.Contains(m[1], want) || !undoLine.MatchString(text) {
		t.Fatalf("no line with %s:\n%s", want, text)
	}
	patch := strings.ReplaceAll(m[1], `"name":"NAME"`, `"name":"`+deployed+`"`)
	return []string{"patch", "deployment", deployed, "--patch", patch}, []string{"rollout", "undo", "deployment", deployed}
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %v: %v: %s", args, err, out)
	}
	return string(out)
}

// deployed is the name of the deployment and of its container, and of what its process has as an argument.
const deployed = "tare-advised"

// deployment is a deployment of one pod whose two processes use as much CPU time as they get.
type deployment struct{ t *testing.T }

// deploy makes it, and batch such pods of class BestEffort beside it.
func deploy(t *testing.T, admin *kubetest.Admin, resources string, batch int) deployment {
	t.Helper()
	d := deployment{t}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out, err := exec.Command("kubectl", "delete", "deployment", deployed, deployed+"-batch", "--ignore-not-found", "--wait", "--cascade=foreground").CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	here := admin.Here(t)
	d.create(here, deployed, busybox, resources, 1)
	if batch > 0 {
		d.create(here, deployed+"-batch", busybox, `{}`, batch)
	}
	d.roll()
	return d
}

func (d deployment) create(node, name, busybox, resources string, replicas int) {
	d.t.Helper()
	spin := strings.Repeat("/host/busybox sh -c 'while :; do :; done' "+name+".work & ", 2) + "wait"
	file := filepath.Join(d.t.TempDir(), name+".json")
	text := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%[1]q},"spec":{"replicas":%[6]d,
"strategy":{"type":"Recreate"},"selector":{"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{
"nodeSelector":{"kubernetes.io/hostname":%[2]q},"terminationGracePeriodSeconds":1,
"containers":[{"name":%[1]q,"image":"localhost/tare-pause:1","imagePullPolicy":"Never","command":["/host/busybox","sh","-c",%[3]q],"resources":%[4]s,
"volumeMounts":[{"name":"program","mountPath":"/host/busybox"}]}],
"volumes":[{"name":"program","hostPath":{"path":%[5]q,"type":"File"}}]}}}}`, name, node, spin, resources, busybox, replicas)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	kubectl(d.t, "apply", "-f", file)
	kubectl(d.t, "rollout", "status", "deployment", name, "--timeout=90s")
}

// roll waits until the deployment's pod is the new one.
func (d deployment) roll() {
	d.t.Helper()
	kubectl(d.t, "rollout", "status", "deployment", deployed, "--timeout=90s")
	for end := time.Now().Add(time.Minute); len(d.processes()) != 2; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("%d processes of %s", len(d.processes()), deployed)
		}
	}
}

// cpus is the CPU time of its processes in CPU seconds per second, over six seconds.
func (d deployment) cpus() float64 {
	d.t.Helper()
	const seconds = 6
	processes := d.processes()
	ticks := func() (sum float64) {
		for _, stat := range processes {
			b, err := os.ReadFile(stat)
			if err != nil {
				d.t.Fatal(err)
			}
			fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
			for _, f := range fields[11:13] { // utime and stime, proc(5)
				n, err := strconv.ParseFloat(f, 64)
				if err != nil {
					d.t.Fatal(err)
				}
				sum += n
			}
		}
		return sum
	}
	before := ticks()
	time.Sleep(seconds * time.Second)
	return (ticks() - before) / 100 / seconds
}

// processes are the files of proc(5) with the times of its processes.
func (d deployment) processes() (stats []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(b), "\x00"+deployed+".work\x00") {
			stats = append(stats, filepath.Join(filepath.Dir(path), "stat"))
		}
	}
	return stats
}
