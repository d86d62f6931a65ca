package cgroup

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// An ordinary user has a group with only this process and its ancestors.
func TestMakeDelegated(t *testing.T) {
	f := machineUser(t, os.Getpid())
	tree := f.detect()
	plan, err := tree.Plan("tare-r/arm", []string{"memory"})
	if err != nil || plan.Leaf != f.path(session+"/tare-self") || plan.EnableAt != f.path(session) {
		t.Fatalf("plan %+v %v", plan, err)
	}
	g, err := tree.Make("tare-r/arm", []string{"memory"})
	if err != nil {
		t.Fatal(err)
	}
	if f.read(session+"/cgroup.procs") != "" || f.read(session+"/tare-self/cgroup.procs") != fmt.Sprint(os.Getpid()) {
		t.Error("the own process is still in the group that has controllers enabled")
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := f.listing(session); len(got) != 1 || f.read(session+"/cgroup.procs") != fmt.Sprint(os.Getpid()) {
		t.Errorf("after Remove: %v, processes %q", got, f.read(session+"/cgroup.procs"))
	}
}

// Other processes are not moved.
func TestMakeDelegatedOccupied(t *testing.T) {
	f := machineUser(t, os.Getpid(), 999_999_999)
	put(t, f.root, "proc/999999999/comm", "editor\n")
	tree := f.detect()
	_, err := tree.Make("tare-r/arm", []string{"memory"})
	var u *Unusable
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "editor") {
		t.Errorf("%v", err)
	}
	if got := f.listing(session); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
	g, err := tree.Make("tare-r/arm", nil) // a plain group needs no controllers
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}
