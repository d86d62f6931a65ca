package environmenttest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/wire"
)

// pause is the arm's freezer; nil where the host has none. The rest of the case runs without it.
func (f *fixture) pause(t *testing.T) wire.Freezer {
	t.Helper()
	p := f.arm.Place().Pause
	switch {
	case p == nil && f.host.Freezer != "":
		t.Fatalf("the host has %s and the arm none", f.host.Freezer)
	case p == nil:
		t.Log("no freezer: ", f.host.NoFreezer)
	case p.Kind() != f.host.Freezer:
		t.Errorf("%s, and the host has %s", p.Kind(), f.host.Freezer)
	}
	return p
}

func freezeAndThaw(t *testing.T, f *fixture) {
	pause := f.pause(t)
	if pause == nil {
		return
	}
	all := []process{f.start(t, "count"), f.startOutside(t, "count")}
	for _, p := range all {
		p.ready(t)
	}
	for range 3 {
		if err := pause.Freeze(bound); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(all, process.moves) {
			t.Error("goes on while frozen")
		}
		if err := pause.Thaw(); err != nil {
			t.Fatal(err)
		}
		for i, p := range all {
			await(t, "the process "+[]string{"in the arm", "beside the arm"}[i]+" to go on", p.moves)
		}
	}
}

func closedWhileFrozen(t *testing.T, f *fixture) {
	pause := f.pause(t)
	if pause == nil {
		return
	}
	all := []process{f.start(t, "count"), f.startOutside(t, "deaf")}
	for _, p := range all {
		p.ready(t)
	}
	if err := pause.Freeze(bound); err != nil {
		t.Fatal(err)
	}
	if err := f.arm.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range all {
		p.expect(t, environment.Exit{Code: -1, Signal: "SIGKILL"})
	}
}

func killedWhileFrozen(t *testing.T, f *fixture) {
	pause := f.pause(t)
	if pause == nil {
		return
	}
	in, out := f.start(t, "count"), f.startOutside(t, "count")
	in.ready(t)
	out.ready(t)
	if err := pause.Freeze(bound); err != nil {
		t.Fatal(err)
	}
	for _, p := range []process{in, out} {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []process{in, out} {
		p.expect(t, environment.Exit{Code: -1, Signal: "SIGKILL"})
	}
	if err := pause.Thaw(); err != nil {
		t.Error(err)
	}
	// The arm can be used again.
	f.start(t, "exit", "5").expect(t, environment.Exit{Code: 5})
}

// orphans leaves a process in the arm whose parent has ended. Close has to end it.
func orphans(t *testing.T, f *fixture) {
	if len(f.arm.Place().Group.Dirs) == 0 && !f.opts.Led { // a pod ends with all its processes
		t.Log("without a group nobody can tell whose an orphan is")
		return
	}
	f.start(t, "fork").expect(t, environment.Exit{})
	f.startOutside(t, "fork").expect(t, environment.Exit{})
	// An agent ends the descendants of a process, as the end of a container does.
	if left := withToken(f.token); len(left) == 0 && !f.opts.Led {
		t.Error("the process beside the arm had no child that outlived it")
	}
}

func closedWhileInUse(t *testing.T, f *fixture) {
	in, out := f.start(t, "deaf"), f.startOutside(t, "count")
	in.ready(t)
	out.ready(t)
	if err := f.arm.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range []process{in, out} {
		p.expect(t, environment.Exit{Code: -1, Signal: "SIGKILL"})
	}
	if _, err := f.tryStart(t, t.Context(), false, "count"); err == nil {
		t.Error("a closed arm starts processes")
	}
}

// settings checks the settings of the arm before and while a process runs in it.
func settings(t *testing.T, f *fixture) {
	checkSettings(t, f)
	p := f.start(t, "count")
	p.ready(t)
	checkSettings(t, f)
	f.chosen(t, p)
}

func checkSettings(t *testing.T, f *fixture) {
	t.Helper()
	all, err := f.arm.Settings()
	if err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, s := range all {
		if s.Name == "" || s.Got == "" || s.Wanted != "" && s.Wanted != s.Got || seen[s.Name] {
			t.Errorf("setting %+v (named before: %v)", s, seen[s.Name])
		}
		seen[s.Name] = true
	}
	if len(all) == 0 {
		t.Error("no settings at all")
	}
}

// settingsChanged checks that a setting that is no longer in force is an error of Settings.
func settingsChanged(t *testing.T, f *fixture) {
	g := f.arm.Place().Group
	if _, err := g.Dir("pids"); err != nil {
		t.Log("the arm has no limits: ", err)
		return
	}
	if err := g.Set("pids", "pids.max", fmt.Sprint(1234)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.arm.Settings(); err == nil {
		t.Error("a limit was changed, and the settings are said to be as wanted")
	}
}

func serverAndClient(t *testing.T, f *fixture) {
	place := f.arm.Place()
	if place.Listen == "" || place.Dial == "" {
		t.Fatalf("listen at %q, dial %q, with port %d", place.Listen, place.Dial, f.spec.Port)
	}
	f.start(t, "serve", place.Listen).ready(t)
	for range 3 {
		f.startOutside(t, "dial", place.Dial).expect(t, environment.Exit{})
	}
}
