package volume

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/netmount"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/testing/cephtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
)

// TestRBDKernel boots a machine whose kernel has Ceph's clients, beside a cluster, and runs the
// tests there that need one.
func TestRBDKernel(t *testing.T) {
	testneed.Long(t, "rbd")
	besideCluster(t, "internal/host/volume", "TestUMLCeph", "cmd/tare", "^TestUMLCeph(Killed)?$")
}

// TestStoreKernel runs the tests there that kill a store; they wait for minutes.
func TestStoreKernel(t *testing.T) {
	testneed.Long(t, "store")
	besideCluster(t, "cmd/tare", "^TestUMLCephStore$")
}

// besideCluster runs tests on that machine; each is a package and a pattern.
func besideCluster(t *testing.T, tests ...string) {
	c := cephtest.Start(t)
	c.FileSystem("data")
	given := t.TempDir()
	c.Give(given)
	c.Run("rbd", "create", "--size", "16", cephtest.Pool+"/"+foreign)
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"tools/uml.sh"}, tests...)...)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "TARETEST_UML_WITH="+given, "TARETEST_UML_LIMIT=900")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	if got := c.Images(); !slices.Equal(got, []string{foreign}) {
		t.Errorf("the pool has %v", got)
	}
}

// TestUMLCeph runs on that machine and tests the kernel's clients of images and of file
// systems.
func TestUMLCeph(t *testing.T) {
	c := cephtest.Reach(t)
	for word, is := range map[string]string{
		"rbd:" + cephtest.Pool + "/tare,queue_depth=64": "ext4", "cephfs:data:/,wsize=65536": "ceph",
	} {
		v, err := Parse(word)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(v.Kind(), func(t *testing.T) {
			var s facts.Support
			for began := time.Now(); time.Since(began) < time.Minute; { // the machine may be slow
				if s = v.Support(facts.Host{Root: true}); s.Answer == facts.Yes {
					break
				}
			}
			if s.Answer != facts.Yes {
				t.Fatalf("%+v", s)
			}
			t.Run("open", func(t *testing.T) { openedCeph(t, v, is) })
			t.Run("undo", func(t *testing.T) { undoneCeph(t, v) })
			t.Run("cut", func(t *testing.T) { cutCeph(t, c, v) })
		})
	}
}

// openedCeph opens the volume, writes data, checks its settings, and closes it without a trace.
func openedCeph(t *testing.T, v Volume, is string) {
	s, left := spec(t, "arm")
	o, err := v.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := storage.Of("/", o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f.Settings())
	if f.Mount.Type != is || !f.Network() || f.Memory() {
		t.Errorf("it is on %s; network %v, memory %v", f.Mount.Type, f.Network(), f.Memory())
	}
	switch v.Kind() {
	case RBD:
		// A scheduler has twice as many requests as the device.
		if len(f.Devices) != 1 || !strings.Contains(f.Devices[0].Mapping, "queue_depth=64") || !strings.Contains(f.Devices[0].Mapping, patience) || !slices.Contains([]string{"64", "128"}, f.Devices[0].Requests) {
			t.Errorf("the devices are %+v", f.Devices)
		}
	case CephFS:
		if f.Option("wsize") != "65536" || !f.Has("noshare") {
			t.Errorf("the options are %v", f.Options)
		}
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "file"), slices.Repeat([]byte("tare"), int(s.Need/4)), 0o600); err != nil {
		t.Errorf("the data does not fit: %v", err)
	}
	if err := errors.Join(o.Close(), o.Close()); err != nil {
		t.Error(err)
	}
	nothingOfCeph(t, s.Scratch)
	if l := left(); len(l) != 0 {
		t.Errorf("left in the journal: %+v", l)
	}
}

// undoneCeph removes the volume by the journal alone.
func undoneCeph(t *testing.T, v Volume) {
	state, s, o := goneCeph(t, v)
	if err := os.WriteFile(filepath.Join(o.Dir, "file"), make([]byte, s.Need), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Journal.Close(); err != nil { // as after a kill
		t.Fatal(err)
	}
	undoAsAnother(t, state, s.Run)
	nothingOfCeph(t, s.Scratch)
}

// goneCeph opens the volume for a run whose journal another process can undo.
func goneCeph(t *testing.T, v Volume) (state string, s Spec, o *Opened) {
	t.Helper()
	state, scratch := t.TempDir(), filepath.Join(t.TempDir(), "tare-test")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(state, "gone")
	if err != nil {
		t.Fatal(err)
	}
	s = Spec{Run: "gone", Arm: "arm", Scratch: scratch, Need: 8 << 20, Journal: j}
	if o, err = v.Open(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return state, s, o
}

// cutCeph cuts off the cluster while data is unwritten. Close ends all the same, and the
// leftovers are removed when the cluster is back.
func cutCeph(t *testing.T, c *cephtest.Reached, v Volume) {
	state, s, o := goneCeph(t, v)
	c.Cut()
	defer c.Mend()
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(filepath.Join(o.Dir, "file"), make([]byte, 1<<20), 0o600) }()
	select {
	case <-written: // into the cache
	case <-time.After(5 * time.Second):
	}
	began := time.Now()
	err := o.Close()
	t.Logf("closed after %.0f s: %v", time.Since(began).Seconds(), err)
	if err == nil {
		t.Error("it was taken back from a cluster that is gone")
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), s.Scratch) {
		t.Errorf("left mounted: %s", b)
	}
	c.Mend()
	if err := s.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	undoAsAnother(t, state, s.Run)
	nothingOfCeph(t, s.Scratch)
}

// nothingOfCeph expects no device, no image but the foreign one, no mount and no directory.
func nothingOfCeph(t *testing.T, scratch string) {
	t.Helper()
	if all, _ := os.ReadDir("/sys/bus/rbd/devices"); len(all) > 0 {
		t.Errorf("left mapped: %v", all)
	}
	if out, err := exec.Command("rbd", "ls", cephtest.Pool).Output(); err != nil || strings.TrimSpace(string(out)) != foreign {
		t.Errorf("the pool has %q: %v", out, err)
	}
	if rest, _ := os.ReadDir(scratch); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), scratch) {
		t.Errorf("left mounted: %s", b)
	}
	point := t.TempDir()
	v, _ := Parse("cephfs:data:/")
	if err := netmount.CephFS().Mount(t.Context(), ":/", point, v.cephOptions()); err != nil {
		t.Fatal(err)
	}
	defer netmount.Unmount(point, false)
	if rest, _ := os.ReadDir(point); len(rest) > 0 {
		t.Errorf("left on the file system: %v", rest)
	}
}
