package reserve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// disk is a file system in memory, which uses memory only as it is written to.
func disk(t *testing.T, options string) string {
	t.Helper()
	testneed.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tare-test", dir, "tmpfs", 0, options); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func fill(t *testing.T, dir, name string, bytes int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err == nil {
		err = errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, bytes), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A twentieth must stay free, at least 1 GiB and at most 10 GiB; of a file system of tare's own
// just a twentieth. tmpfs reports sizes without using memory.
func TestBounds(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		options       string
		bytes, inodes int64
		own           bool
	}{
		{"size=100m,nr_inodes=2000", gib, 1000, false},
		{"size=10g,nr_inodes=30000", gib, 1500, false},
		{"size=100g,nr_inodes=1000000", 5 * gib, 50_000, false},
		{"size=1000g,nr_inodes=9000000", 10 * gib, 100_000, false},
		{"size=100m,nr_inodes=2000", 5 << 20, 100, true},
		{"size=1000g,nr_inodes=9000000", 50 * gib, 450_000, true},
		{"size=10g,nr_inodes=0", gib, 0, false},
	} {
		all, err := ask(disk(t, c.options), "", c.own)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, a := range all {
			got[a.Kind] = a.Bound
		}
		if got[record.RoomBytes] != c.bytes || got[record.RoomInodes] != c.inodes {
			t.Errorf("%s, own %v: %v", c.options, c.own, got)
		}
	}
}

func TestShort(t *testing.T) {
	dir := disk(t, "size=1100m")
	all, err := OfDir(filepath.Join(dir, "not", "there"), "name another")
	if err != nil || Err(all...) != nil {
		t.Fatal(all, err)
	}
	if n, err := Beyond(dir); err != nil || n < 75<<20 || n > 76<<20 {
		t.Errorf("%d beyond, %v", n, err)
	}
	fill(t, dir, "a", 100<<20)
	if all, err = OfDir(dir, "name another"); err != nil {
		t.Fatal(err)
	}
	short := Err(all...)
	if !errors.Is(short, ErrShort) || !errors.Is(short, unix.ENOSPC) || hint.Of(short) != "name another" ||
		short.Error() != "too little room on this host: "+dir+" has 1000 MiB free, and a run leaves 1024 MiB free" {
		t.Errorf("%v (%s)", short, hint.Of(short))
	}
	if n, err := Beyond(dir); err != nil || n != 0 {
		t.Errorf("%d beyond, %v", n, err)
	}
}

// The run ends if one more decrease like the largest would go below the bound, and so before
// the bound is reached.
func TestAhead(t *testing.T) {
	dir := disk(t, "size=1500m")
	var w Watch
	w.Host(dir, "name another")
	w.Host(filepath.Join(dir, "below"), "name another")
	fill(t, dir, "launch", 300<<20) // leaves 176 MiB above the bound
	if err := w.Ahead(0); err != nil {
		t.Fatal(err)
	}
	w.Settle()
	for i := range 3 {
		err := w.Ahead(0)
		if short := i == 2; errors.Is(err, ErrShort) != short {
			t.Fatalf("look %d: %v", i, err)
		}
		if i == 2 && !strings.Contains(err.Error(), "70 MiB of it about to be used") {
			t.Error(err)
		}
		if err := w.Look(); err != nil {
			t.Errorf("look %d: %v", i, err)
		}
		if i < 2 {
			fill(t, dir, fmt.Sprint("window", i), 70<<20)
		}
	}
	if err := w.Ahead(time.Hour); err != nil {
		t.Errorf("it looked again: %v", err)
	}
	low := w.Lowest()
	if len(low) != 2 || low[0].Of != dir || low[0].Bound != 1<<30 || low[0].Lowest != (1500-440)<<20 {
		t.Errorf("%+v", low)
	}
	w.Forget(dir)
	if err := w.Ahead(0); err != nil {
		t.Errorf("a file system that is no longer written to: %v", err)
	}
}

func TestDuring(t *testing.T) {
	dir := disk(t, "size=1100m")
	var w Watch
	w.Host(dir, "name another")
	ctx, stop := w.During(t.Context())
	if err := stop(); err != nil || ctx.Err() != nil {
		t.Fatalf("%v, %v", err, ctx.Err())
	}
	ctx, stop = w.During(t.Context())
	fill(t, dir, "a", 100<<20)
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("nobody noticed")
	}
	if err := stop(); !errors.Is(err, ErrShort) || !errors.Is(context.Cause(ctx), ErrShort) {
		t.Errorf("%v, %v", err, context.Cause(ctx))
	}
}

// A real group in which arms are put may have 40 processes; a tenth must stay free.
func TestPidsOfAGroup(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Can("pids"); err != nil {
		testneed.Feature(t, "pids", err)
	}
	if all := Pids(tree); len(all) < 2 || all[0].Of != "kernel.pid_max" || all[0].Bound == 0 || all[0].Free <= 0 {
		t.Errorf("of the kernel: %+v", all)
	}
	g, err := tree.Make("tare-test-pids", []string{"pids"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	if err := g.Set("pids", "pids.max", "40"); err != nil {
		t.Fatal(err)
	}
	read := func(file string) int64 {
		s, err := g.Read("pids", file)
		n, nerr := strconv.ParseInt(s, 10, 64)
		if err != nil || nerr != nil {
			t.Fatal(err, nerr)
		}
		return n
	}
	var w Watch
	w.pids = func() []Amount {
		return left([]cgroup.PidsLimit{{Of: g.Dirs["pids"], Most: read("pids.max"), Now: read("pids.current")}})
	}
	if err := w.Look(); err != nil {
		t.Fatal(err)
	}
	for range 37 {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		if err := g.Add(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	err = w.Look()
	if !errors.Is(err, ErrShort) || errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "3 processes free, and a run leaves 4 processes") {
		t.Errorf("%v", err)
	}
	if !slices.ContainsFunc(w.Lowest(), func(r record.Room) bool { return r.Kind == record.RoomPids && r.Lowest == 3 && r.Bound == 4 }) {
		t.Errorf("%+v", w.Lowest())
	}
}
