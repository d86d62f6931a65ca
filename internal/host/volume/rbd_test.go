package volume

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/testing/cephtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// foreign is an image in the pool that is not tare's, with a name like tare's.
const foreign = "tare"

// With a real cluster and without a kernel client: a foreign image is not touched, and a pool
// that the cluster does not have is refused in time. TestUMLCeph maps images.
func TestRBD(t *testing.T) {
	testneed.Long(t, "rbd")
	c := cephtest.Start(t)
	t.Setenv("CEPH_CONF", c.Config)
	c.Run("rbd", "create", "--size", "16", cephtest.Pool+"/"+foreign)
	v, err := Parse(RBD + ":" + cephtest.Pool + "/tare")
	if err != nil {
		t.Fatal(err)
	}
	if s := v.supportPool(); s.Answer != facts.Yes {
		t.Fatalf("%+v", s)
	}
	t.Run("taken", func(t *testing.T) { takenRBD(t, c, v) })
	t.Run("space", func(t *testing.T) {
		room := Enough(t.TempDir(), []Ask{{Volume: v, Need: 1 << 20}})
		short := Enough(t.TempDir(), []Ask{{Volume: v, Need: 1 << 30}, {Volume: v, Need: 1 << 30}})
		if room[0] != nil || !errors.Is(short[0], unix.ENOSPC) || !strings.Contains(short[1].Error(), "Ceph pool rbd") {
			t.Errorf("room for little: %v; for much: %v", room, short)
		}
	})
	t.Run("support", func(t *testing.T) {
		none, _ := Parse("rbd:none/x")
		s := none.supportPool()
		if s.Answer != facts.No || !strings.Contains(said.English(s.Reason), `no pool "none"`) || !strings.Contains(said.English(s.Remedy), "ceph osd pool create none") {
			t.Errorf("a pool that is not there: %+v", s)
		}
		c.Stop()
		if s := v.supportPool(); s.Answer != facts.No || !strings.Contains(said.English(s.Remedy), "-s") {
			t.Errorf("a cluster that is down: %+v", s)
		}
	})
}

// takenRBD expects that an existing image with tare's name is not touched.
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
	if rest, _ := os.ReadDir(s.Scratch); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	c.Run("rbd", "rm", "--no-progress", name)
	if l := left(); len(l) != 0 {
		t.Errorf("left in the journal: %+v", l)
	}
}

// Without tools or a cluster the volume is unsupported, with the reason.
func TestNoCeph(t *testing.T) {
	v, _ := Parse("rbd:rbd/x")
	t.Setenv("CEPH_CONF", filepath.Join(t.TempDir(), "none.conf"))
	if s := v.Support(facts.Host{}); s.Answer != facts.No || s.Remedy.IsZero() {
		t.Errorf("an ordinary user: %+v", s)
	}
	t.Setenv("PATH", t.TempDir())
	if s := v.Support(facts.Host{Root: true}); s.Answer != facts.No || said.English(s.Reason) != "rbd is not installed" || !strings.Contains(said.English(s.Remedy), "ceph-common") {
		t.Errorf("not installed: %+v", s)
	}
}
