package volume

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/ceph/cephtest"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/storage"
	"github.com/tarelab/tare/internal/testneed"
)

// foreign is an image in the pool that is not tare's, whose name begins like its.
const foreign = "tare"

// A real cluster: the volume is made, holds data on what it says, and goes without
// a trace, in the cluster and on the host; a run that is gone is taken back, and
// what the cluster does not have is refused in time.
func TestRBD(t *testing.T) {
	testneed.Long(t, "rbd")
	c := cephtest.Start(t)
	t.Setenv("CEPH_CONF", c.Config)
	c.Run("rbd", "create", "--size", "16", cephtest.Pool+"/"+foreign)
	v, err := Parse(RBDFuse + ":" + cephtest.Pool + "/tare")
	if err != nil {
		t.Fatal(err)
	}
	if s := v.Support(environment.Host{Root: true}); s.Answer != environment.Yes {
		t.Fatalf("%+v", s)
	}
	t.Run("open", func(t *testing.T) { openedRBD(t, c, v) })
	t.Run("undo", func(t *testing.T) { undoneRBD(t, c, v) })
	t.Run("taken", func(t *testing.T) { takenRBD(t, c, v) })
	t.Run("space", func(t *testing.T) {
		room := Enough(t.TempDir(), []Ask{{Volume: v, Need: 1 << 20}}, nil)
		short := Enough(t.TempDir(), []Ask{{Volume: v, Need: 1 << 30}, {Volume: v, Need: 1 << 30}}, nil)
		if room[0] != nil || !errors.Is(short[0], unix.ENOSPC) || !strings.Contains(short[1].Error(), "Ceph pool rbd") {
			t.Errorf("room for little: %v; for much: %v", room, short)
		}
	})
	t.Run("support", func(t *testing.T) {
		none, _ := Parse("rbd-fuse:none/x")
		s := none.Support(environment.Host{Root: true})
		if s.Answer != environment.No || !strings.Contains(s.Reason, `no pool "none"`) || !strings.Contains(s.Remedy, "ceph osd pool create none") {
			t.Errorf("a pool that is not there: %+v", s)
		}
		c.Stop()
		if s := v.Support(environment.Host{Root: true}); s.Answer != environment.No || !strings.Contains(s.Remedy, "-s") {
			t.Errorf("a cluster that is down: %+v", s)
		}
	})
}

func openedRBD(t *testing.T, c *cephtest.Cluster, v Volume) {
	s, left := spec(t, "arm")
	o, err := v.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Images(), []string{foreign, "tare-tare-test-arm"}; !slices.Equal(got, want) {
		t.Errorf("the pool has %v, want %v", got, want)
	}
	f, err := storage.Of("/", o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f.Settings())
	if f.Mount.Type != "ext4" || f.Lowest.Type != "fuse.rbd-fuse" || !f.Network() || f.Memory() {
		t.Errorf("it is on %s, which is on %s; network %v, memory %v", f.Mount.Type, f.Lowest.Type, f.Network(), f.Memory())
	}
	if len(f.Devices) != 1 || !strings.HasPrefix(f.Devices[0].Name, "loop") || f.Devices[0].Scheduler == "" || f.Devices[0].Cache == "" {
		t.Errorf("the devices are %+v", f.Devices)
	}
	file := filepath.Join(o.Dir, "file")
	if err := os.WriteFile(file, slices.Repeat([]byte("tare"), int(s.Need/4)), 0o600); err != nil {
		t.Errorf("the data does not fit: %v", err)
	}
	unix.Sync()
	if used := c.Run("rbd", "du", "--format", "json", cephtest.Pool+"/tare-tare-test-arm"); strings.Contains(used, `"used_size":0`) {
		t.Errorf("nothing reached the image: %s", used)
	}
	pid := o.shown.Pid
	if err := errors.Join(o.Close(), o.Close()); err != nil {
		t.Error(err)
	}
	clean(t, c, s.Scratch, pid)
	if l := left(); len(l) != 0 {
		t.Errorf("left in the journal: %+v", l)
	}
}

// clean wants nothing left but the foreign image.
func clean(t *testing.T, c *cephtest.Cluster, scratch string, pid int) {
	t.Helper()
	if got := c.Images(); !slices.Equal(got, []string{foreign}) {
		t.Errorf("the pool has %v", got)
	}
	if rest, _ := os.ReadDir(scratch); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), scratch) {
		t.Errorf("left mounted: %s", b)
	}
	if name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); strings.HasPrefix(string(name), "rbd-fuse") {
		t.Errorf("rbd-fuse (%d) is still there", pid)
	}
	noDevices(t)
}

// undoneRBD takes a volume back from the journal, with rbd-fuse still at work and
// with one that was killed.
func undoneRBD(t *testing.T, c *cephtest.Cluster, v Volume) {
	for _, killed := range []bool{false, true} {
		state, scratch := t.TempDir(), filepath.Join(t.TempDir(), "tare-test")
		if err := os.Mkdir(scratch, 0o755); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(state, "gone")
		if err != nil {
			t.Fatal(err)
		}
		s := Spec{Run: "gone", Arm: "arm", Scratch: scratch, Need: 8 << 20, Journal: j}
		o, err := v.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(o.Dir, "file"), make([]byte, s.Need), 0o600); err != nil {
			t.Fatal(err)
		}
		if killed {
			o.shown.Kill()
		}
		if err := j.Close(); err != nil { // as a kill leaves it
			t.Fatal(err)
		}
		undoAsAnother(t, state, s.Run)
		clean(t, c, s.Scratch, o.shown.Pid)
	}
}

// takenRBD: an image of the name that tare would take is left alone.
func takenRBD(t *testing.T, c *cephtest.Cluster, v Volume) {
	name := cephtest.Pool + "/tare-tare-test-taken"
	c.Run("rbd", "create", "--size", "16", name)
	s, left := spec(t, "taken")
	o, err := v.Open(t.Context(), s)
	if err == nil {
		o.Close()
	}
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
	c.Run("rbd", "info", name)
	c.Run("rbd", "rm", "--no-progress", name)
	if l := left(); len(l) != 0 {
		t.Errorf("left in the journal: %+v", l)
	}
}

// Without the tools, or without a cluster, it is left out with the reason.
func TestNoCeph(t *testing.T) {
	v, _ := Parse("rbd-fuse:rbd/x")
	t.Setenv("CEPH_CONF", filepath.Join(t.TempDir(), "none.conf"))
	if s := v.Support(environment.Host{}); s.Answer != environment.No || s.Remedy == "" {
		t.Errorf("an ordinary user: %+v", s)
	}
	t.Setenv("PATH", t.TempDir())
	if s := v.Support(environment.Host{Root: true}); s.Answer != environment.No || s.Reason != "rbd-fuse is not installed" || !strings.Contains(s.Remedy, "rbd-fuse") {
		t.Errorf("not installed: %+v", s)
	}
}
