package durability

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
)

func ext4(devices ...storage.Device) storage.Facts {
	m := proc.Mount{Type: "ext4"}
	return storage.Facts{Mount: m, Lowest: m, Devices: devices}
}

func TestClass(t *testing.T) {
	disk := storage.Device{Name: "sda", Cache: "write back"}
	through := storage.Device{Name: "sdb", Cache: "write through"}
	loop := storage.Device{Name: "loop0", Cache: "write back", File: "/image"}
	lvm := storage.Device{Name: "dm-0", Cache: "write back"}
	kind := func(name string) storage.Facts {
		m := proc.Mount{Type: name}
		return storage.Facts{Mount: m, Lowest: m}
	}
	onMemory := ext4(loop)
	onMemory.Lowest.Type = "tmpfs"
	onNetwork := ext4(loop)
	onNetwork.Lowest.Type = "fuse.rbd-fuse"
	open := ext4(disk)
	open.Options = []string{"rw", "barrier=0"}
	nan := math.NaN()
	for name, c := range map[string]struct {
		facts   storage.Facts
		writes  []float64
		flushes []float64
		want    Class
	}{
		"a disk":                       {ext4(disk), []float64{64}, []float64{64}, medium},
		"flushes that were put in one": {ext4(disk), []float64{64}, []float64{16}, medium},
		"no flushes":                   {ext4(disk), []float64{64}, []float64{0}, cached},
		"nothing written":              {ext4(disk), []float64{0}, []float64{0}, page},
		"no cache to flush":            {ext4(through), []float64{64}, []float64{0}, medium},
		"an old kernel":                {ext4(disk), []float64{64}, []float64{nan}, unknown},
		"no counters at all":           {ext4(disk), []float64{nan}, []float64{nan}, unknown},
		"a loop device":                {ext4(loop, disk), []float64{64, 128}, []float64{64, 64}, medium},
		"a loop device that swallows":  {ext4(loop, disk), []float64{64, 128}, []float64{64, 0}, cached},
		"others flush the disk":        {ext4(loop, disk), []float64{64, 999}, []float64{0, 999}, cached},
		"device mapper does not count": {ext4(lvm, disk), []float64{64, 64}, []float64{0, 64}, medium},
		"a loop device on memory":      {onMemory, []float64{64}, []float64{64}, memory},
		"a loop device on a network":   {onNetwork, []float64{64}, []float64{64}, network},
		"no barriers":                  {open, []float64{64}, []float64{64}, cached},
		"tmpfs":                        {kind("tmpfs"), nil, nil, memory},
		"nfs":                          {kind("nfs4"), nil, nil, network},
		"zfs":                          {kind("zfs"), nil, nil, unknown},
	} {
		trial := storage.Trial{Syncs: syncs}
		for i := range c.writes {
			trial.Devices = append(trial.Devices, storage.Count{Device: c.facts.Devices[i].Name, Writes: c.writes[i], Flushes: c.flushes[i]})
		}
		if got, why := classOf(trial, c.facts); got != c.want || why.IsZero() {
			t.Errorf("%s: %s (%s), want %s", name, got, why, c.want)
		}
	}
	if c, _ := (ArmFacts{Volatile: true, Seen: true}).Class(); c != page {
		t.Errorf("a volatile overlay: %s", c)
	}
	if c, why := (ArmFacts{Failed: "denied", Volume: ext4(disk)}).Class(); c != unknown || said.English(why) != "denied" {
		t.Errorf("no trial: %s %s", c, why)
	}
	if c, _ := (ArmFacts{Failed: "denied", Volume: open}).Class(); c != cached {
		t.Errorf("no trial, and no barriers: %s", c)
	}
}

func TestCompare(t *testing.T) {
	arm := func(name, class string, promises ...Promise) ArmFacts {
		on := proc.Mount{Type: class}
		return ArmFacts{Name: name, Seen: true, Trial: storage.Trial{Syncs: syncs}, Volume: storage.Facts{Mount: on, Lowest: on}, Promises: promises}
	}
	on, also, off := Promise{"fsync", "on", "on"}, Promise{"fsync", "1", "on"}, Promise{"fsync", "off", "off"}
	for name, c := range map[string]struct {
		base, arm ArmFacts
		want      string // in the only difference; empty: no difference
	}{
		"tmpfs":                 {arm("host", "nfs"), arm("t", "tmpfs"), "in memory (the file system is in memory (tmpfs)), that of host"},
		"unknown":               {arm("host", "nfs"), arm("t", "zfs"), ""},
		"values of one meaning": {arm("host", "zfs", on), arm("t", "zfs", also), ""},
		"another promise":       {arm("host", "zfs", on), arm("t", "zfs", off), "fsync is off in t and on in host"},
		"one of them says none": {arm("host", "zfs", on), arm("t", "zfs"), ""},
	} {
		got := Compare(c.base, c.arm)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(said.English(got[0]), c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// On the real kernel syncs reach the device from a file system on a loop device; without
// barriers they do not; memory is memory.
func TestTry(t *testing.T) {
	testneed.Root(t)
	for word, want := range map[string]Class{
		"loop:ext4": medium, "loop:xfs": medium, "loop:btrfs": medium, "tmpfs": memory, "loop:ext4:nobarrier": cached,
	} {
		t.Run(word, func(t *testing.T) {
			v, err := volume.Parse(word)
			if err != nil {
				t.Fatal(err)
			}
			if s := v.Support(facts.Host{Root: true}); s.Answer != facts.Yes {
				testneed.Feature(t, word, errNot(said.English(s.Reason)))
			}
			scratch, state := t.TempDir(), t.TempDir()
			j, err := journal.Open(state, "test")
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			o, err := v.Open(t.Context(), volume.Spec{Run: "test", Arm: v.Name(), Scratch: scratch, Need: 1 << 20, Journal: j})
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			f, err := storage.Of("/", o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			trial, err := Try(t.Context(), o.Dir, f)
			if err != nil {
				t.Fatal(err)
			}
			a := ArmFacts{Name: word, Seen: true, Trial: trial, Volume: f}
			t.Log(a.Facts())
			if f.Lowest.Type == "tmpfs" {
				want = memory // the scratch directory of this host is
			}
			if got, why := a.Class(); got != want {
				t.Errorf("%s: %s (%s), want %s", word, got, why, want)
			}
			if rest, _ := os.ReadDir(o.Dir); len(rest) > 1 { // ext4 has lost+found
				t.Errorf("left behind: %v", rest)
			}
		})
	}
}

type errNot string

func (e errNot) Error() string { return string(e) }

func TestTryFails(t *testing.T) {
	if _, err := Try(t.Context(), t.TempDir()+"/absent", storage.Facts{}); err == nil {
		t.Error("a directory that is not there")
	}
}
