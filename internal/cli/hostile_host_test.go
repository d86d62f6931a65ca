package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// hostileHost makes journals of killed runs and data sets with hostile names.
func hostileHost(t *testing.T, tare func(door string, args ...string), state string) {
	t.Helper()
	bad := hostileName(0, "x")
	h := journal.Header{Schema: journal.Schema, Run: "abcdefgh", Pid: 1 << 22, Boot: bad, Command: []string{bad}}
	dir := filepath.Join(state, "tare")
	journaltest.Write(t, dir, h, steps.Directory{Path: "/tmp/" + fileName(bad) + "/tare-abcdefgh"})
	h.Run = "damaged"
	journaltest.Write(t, dir, h)
	f, err := os.OpenFile(journaltest.File(dir, h.Run), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(bad + "\n")
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	store, err := dataset.Default()
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(store.Dir, fileName(bad)))
	mkdir(t, filepath.Join(store.Dir, "."+fileName(bad)[:150]+".part-x"))
	tare("partly text", "cleanup", "-n")
	tare("text", "cache")
	tare("text", "cache", "prune", "-n", "--all")
	tare("no text", "cache", "prune", bad)
	hostileSheets(t, bad)
}

// hostileSheets prints the sheets of doctor and plan, and the lines beside them.
func hostileSheets(t *testing.T, bad string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := &console{stdout: out, stderr: out, getenv: func(string) string { return "" }, color: "always"}
	p := newSheet(c)
	a := answers(record.Host{Name: bad, Kernel: bad, Arch: bad, CPUModel: bad, Distro: bad, Virtual: bad}, []doctor.Check{{Name: bad, Title: bad, Support: facts.Unsupported(record.InProse(bad), record.InProse(bad))}})
	a.Arms = a.Checks
	a.leftovers()
	p.host(a.Host)
	p.checks(a.Checks)
	p.arms(bad, a.Arms)
	p.leftovers(a, true)
	p.noise(doctor.Noise{Word: bad, Because: record.InProse(bad)}, bad, true)
	p.outlook(&outlook{noise: bad, reach: bad, remedy: bad})
	p.left([]record.Left{{Arm: bad, Reason: record.InProse(bad), Remedy: record.InProse(bad)}})
	p.columns([][3]string{{bad, bad, bad}})
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	said := &relayed{to: out, prefix: "n1: "}
	fmt.Fprintf(said, "%s\n%s", bad, bad)
	said.flush()
	c.fail(hint.New(fmt.Errorf("one\n%s", bad), bad))
	c.note("plan.root", "path", bad, "why", errors.New(bad))
	c.noteResults(bad, true)
	passes(t, "doctor, plan and notes", "said", contents(t, out))
	var b bytes.Buffer
	if err := export.Object(&b, a); err != nil {
		t.Error(err)
	}
	passes(t, "doctor as JSON", "json", b.String())
}

// hostileProgress prints the progress of a run.
func hostileProgress(t *testing.T) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	bad := hostileName(0, "x")
	c := &console{stdout: out, stderr: out, getenv: func(string) string { return "" }, color: "always"}
	left := func() (float64, float64) { return 60, 180 }
	p := &plan.Plan{Record: record.Plan{Experiment: bad, Budget: 180}, Left: []record.Left{{Arm: bad, Reason: record.InProse(bad)}},
		Loads: []plan.Load{{Workload: record.Workload{Name: bad, Baseline: "host", Arms: []record.Arm{{Name: "host"}, {Name: bad}}}}}}
	for _, show := range []progress{&plain{w: out, left: left}, &screen{console: c, left: left}, silent{out}} {
		show.start(p, bad)
		for _, phase := range []string{"prepare", "launch", "pilot", phaseMeasure, bad} {
			for _, load := range []string{bad, bad + "2"} {
				show.event(run.Event{Workload: load, Number: 1, Of: 2, Phase: phase, Arm: bad, Note: messages.Say("progress.start", "arm", bad), Blocks: 3,
					Arms: []run.Running{{Arm: bad, Ratio: 0.9, Half: 0.01}}})
			}
		}
		show.say("a line\nand " + formatted("%s", bad))
		show.end()
	}
	drawing := regexp.MustCompile("\x1b\\[[0-9]+A|\r?\x1b\\[J")
	passes(t, "progress", "said", drawing.ReplaceAllString(contents(t, out), ""))
}
