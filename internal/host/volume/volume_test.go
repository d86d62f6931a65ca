package volume

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/outside/ceph"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

func TestParse(t *testing.T) {
	for word, name := range map[string]string{
		"layer": "layer", "bind": "bind", "tmpfs": "tmpfs", "dir:/mnt/a b": "dir-mnt-a-b", "loop:ext4": "loop-ext4",
		"loop:ext4:barrier=0,noatime": "loop-ext4-barrier-0-noatime", "loop:xfs": "loop-xfs",
		"rbd:pool/image": "rbd-pool-image", "rbd:pool/image,queue_depth=256,ms_mode=crc": "rbd-pool-image-queue-depth-256-ms-mode-crc",
		"rbd:a/b,osd_request_timeout=20": "rbd-a-b-osd-request-timeout-20", "cephfs:data:/": "cephfs-data", "cephfs:bench@data:/db,wsize=65536": "cephfs-bench-data-db-wsize-65536",
	} {
		v, err := Parse(word)
		if err != nil || v.String() != word || v.Name() != name {
			t.Errorf("%s: %s %s %v", word, v, v.Name(), err)
		}
		if v.Binds() != (word != "layer") || v.Opens() != (word != "layer" && word != "bind") {
			t.Errorf("%s: opens %v, binds %v", word, v.Opens(), v.Binds())
		}
	}
	for word, says := range map[string]string{
		"": "valid: layer", "layr": `"layer"`, "loop": "loop:ext4", "loop:ext5": `"ext4"`, "dir:relative": "absolute", "dir:": "dir:/PATH",
		"bind,tmpfs": "several times", "tmpfs:x": `did you mean "tmpfs"?`, "loop:xfs:a b": "blanks", "rbd:x": "POOL/IMAGE", "rbd:a/b@c": "POOL/IMAGE", "rbd:a/-b": "POOL/IMAGE", "rbd:a/b/c": "POOL/IMAGE",
		"rbd:a": "POOL/IMAGE", "rbd:a/b,": "no options", "rbd:a/b,ro": `"ro"`, "rbd:a/b,osd_request_timeout=0": "never end", "rbd:a/b,osd_request_timeout=1m": "in seconds", "rbd:a/b,osd_request_timeout": "in seconds",
		"cephfs:data": "cephfs:FS:/PATH", "cephfs:data:relative": "cephfs:FS:/PATH", "cephfs:a@b@c:/": "cephfs:FS:/PATH",
		"cephfs:data:/,secret=x": "in every record", "cephfs:data:/,ro": `"ro"`, "cephfs:data:/,fs=x": "fs=x", "cephfs:data:/,a,,b": "empty",
	} {
		if err := Check(word); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", word, err, says)
		}
	}
	if (Volume{}).Kind() != Layer {
		t.Error("the zero volume is not the layer")
	}
}

// tare sets the time limit of a request to a store unless the user does.
func TestRequestTimeout(t *testing.T) {
	for word, want := range map[string]string{
		"rbd:a/b": "osd_request_timeout=60", "rbd:a/b,queue_depth=64": "queue_depth=64,osd_request_timeout=60",
		"rbd:a/b,osd_request_timeout=20,queue_depth=64": "osd_request_timeout=20,queue_depth=64",
	} {
		v, err := Parse(word)
		if err != nil || v.mapOptions() != want {
			t.Errorf("%s is mapped with %q, want %q: %v", word, v.mapOptions(), want, err)
		}
	}
}

// kinds are the steps that volumes write.
func kinds() journal.Kinds {
	return steps.Kinds(journal.KindOf[NFSStep](), journal.KindOf[CephFSStep](), journal.KindOf[ceph.ImageStep](), journal.KindOf[ceph.MappingStep]())
}

// spec is for a new run; left are its steps that are not undone.
func spec(t *testing.T, arm string) (s Spec, left func() []journal.Leftover) {
	t.Helper()
	state, scratch := t.TempDir(), filepath.Join(t.TempDir(), "tare-test")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(state, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return Spec{Run: "test", Arm: arm, Scratch: scratch, Need: 8 << 20, Journal: j}, func() []journal.Leftover {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := journal.Leftovers(state, kinds())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// Every volume is made, holds data, reports its settings, and is removed without a trace.
func TestOpen(t *testing.T) {
	testneed.Root(t)
	other := t.TempDir()
	for word, fs := range map[string]string{
		"layer": "", "bind": "", "dir:" + other: "", "tmpfs": "tmpfs",
		"loop:ext4": "ext4", "loop:ext4:nobarrier": "ext4", "loop:xfs": "xfs", "loop:btrfs": "btrfs",
	} {
		t.Run(word, func(t *testing.T) {
			v, err := Parse(word)
			if err != nil {
				t.Fatal(err)
			}
			if s := v.Support(facts.Host{Root: true}); s.Answer != facts.Yes {
				testneed.Feature(t, word, errors.New(said.English(s.Reason)))
			}
			s, left := spec(t, v.Name())
			if err := Enough(s.Scratch, []Ask{{Volume: v, Need: s.Need}, {Volume: v, Need: s.Need}}); err[0] != nil {
				t.Fatal(err)
			}
			o, err := v.Open(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if v.Opens() {
				holds(t, o, fs, s.Need)
				closed(t, o.Dir)
			} else if o.Dir != "" {
				t.Errorf("a directory %s that nobody asked for", o.Dir)
			}
			if v.Opens() && len(v.Changes(s)) == 0 {
				t.Error("it says that it changes nothing")
			}
			if err := errors.Join(o.Close(), o.Close()); err != nil {
				t.Error(err)
			}
			for _, parent := range []string{s.Scratch, other} {
				if rest, _ := os.ReadDir(parent); len(rest) > 0 {
					t.Errorf("left behind: %v", rest)
				}
			}
			if l := left(); len(l) != 0 {
				t.Errorf("left in the journal: %+v", l)
			}
		})
	}
	noDevices(t)
}

// holds writes need bytes into the volume.
func holds(t *testing.T, o *Opened, fs string, need int64) {
	t.Helper()
	f, err := storage.Of("/", o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f.Settings())
	if fs != "" && (f.Mount.Type != fs || f.Mount.Point != o.Dir) {
		t.Errorf("it is on %s at %s, want %s at %s", f.Mount.Type, f.Mount.Point, fs, o.Dir)
	}
	if f.Memory() != (fs == "tmpfs") || f.Network() {
		t.Errorf("memory %v, network %v", f.Memory(), f.Network())
	}
	if strings.HasPrefix(o.v.String(), "loop:") {
		if len(f.Devices) < 2 || f.Devices[0].File == "" || f.Devices[0].Cache == "" {
			t.Errorf("the devices are %+v", f.Devices)
		}
	}
	if strings.Contains(o.v.options, "nobarrier") != f.NoBarrier() {
		t.Errorf("barriers: %v", f.Options)
	}
	if err := os.Mkdir(filepath.Join(o.Dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "data", "file"), make([]byte, need), 0o600); err != nil {
		t.Errorf("the data does not fit: %v", err)
	}
}

// closed expects that other users cannot enter the volume: a container can leave setuid
// programs there.
func closed(t *testing.T, dir string) {
	t.Helper()
	for !strings.HasPrefix(filepath.Base(dir), journal.Prefix) {
		dir = filepath.Dir(dir)
	}
	st, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := st.Mode().Perm(); mode != 0o700 {
		t.Errorf("%s is %v", dir, mode)
	}
}

// noDevices expects that no loop device of this test is left.
func noDevices(t *testing.T) {
	t.Helper()
	dir := "/" + strings.ReplaceAll(t.Name(), "/", "") // of the test's temporary files
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), dir) {
			t.Errorf("%s: %s", f, b)
		}
	}
}

// The journal undoes what a killed run leaves: mount, device and files.
func TestUndo(t *testing.T) {
	testneed.Root(t)
	for _, word := range []string{"loop:ext4", "tmpfs"} {
		v, _ := Parse(word)
		state, scratch := t.TempDir(), t.TempDir()
		j, err := journal.Open(state, "gone")
		if err != nil {
			t.Fatal(err)
		}
		token, err := j.Add(steps.Directory{Path: filepath.Join(scratch, "tare-gone")})
		if err != nil {
			t.Fatal(err)
		}
		_ = token
		s := Spec{Run: "gone", Arm: "a", Scratch: filepath.Join(scratch, "tare-gone"), Need: 1 << 20, Journal: j}
		if err := os.Mkdir(s.Scratch, 0o755); err != nil {
			t.Fatal(err)
		}
		o, err := v.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		device := o.device
		if err := j.Close(); err != nil { // as after a kill
			t.Fatal(err)
		}
		undoAsAnother(t, state, "gone")
		if _, err := os.Stat(s.Scratch); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory is still there", word)
		}
		if device != nil {
			if err := device.Gone(); err != nil {
				t.Error(err)
			}
		}
	}
}

// undoAsAnother undoes a run of this process, which lives: it reads the steps from the file as
// cleanup would.
func undoAsAnother(t *testing.T, state, run string) {
	t.Helper()
	path := filepath.Join(state, "journal", run+".jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dead := strings.Replace(string(b), `"start_ticks":`, `"start_ticks":1`, 1)
	if err := os.WriteFile(path, []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := journal.Undo(state, run, kinds())
	if err != nil || len(r.Failed) > 0 {
		t.Fatalf("%v: %+v", err, r.Failed)
	}
}

func TestRefused(t *testing.T) {
	testneed.Root(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for word, says := range map[string]string{
		"dir:/dev/null": "device", "dir:" + file: "not a directory", "dir:/no/such/place": "no such file", "dir:/proc": "",
		"loop:ext4:nonsense=1": "mount",
	} {
		v, err := Parse(word)
		if err != nil {
			t.Fatal(err)
		}
		s, left := spec(t, v.Name())
		o, err := v.Open(t.Context(), s)
		if err == nil {
			o.Close()
			t.Errorf("%s was opened", word)
			continue
		}
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", word, err, says)
		}
		if rest, _ := os.ReadDir(s.Scratch); len(rest) > 0 {
			t.Errorf("%s left %v", word, rest)
		}
		if l := left(); len(l) > 0 {
			t.Errorf("%s left %+v", word, l)
		}
	}
	noDevices(t)
}

func TestNoSpace(t *testing.T) {
	dir := t.TempDir()
	for word, want := range map[string]error{
		"layer": unix.ENOSPC, "bind": unix.ENOSPC, "dir:" + dir: unix.ENOSPC, "loop:xfs": unix.ENOSPC, "tmpfs": unix.ENOMEM,
	} {
		v, _ := Parse(word)
		err := Enough(filepath.Join(dir, "not", "there", "yet"), []Ask{{Volume: v, Need: 1 << 44}})[0]
		if !errors.Is(err, want) || err != nil && hint.Of(err) == "" {
			t.Errorf("%s: %v (%s)", word, err, hint.Of(err))
		}
		if err := Enough(dir, []Ask{{Volume: v, Need: 1 << 10}})[0]; err != nil {
			t.Errorf("%s: no room for a kilobyte: %v", word, err)
		}
	}
	// All asks on one file system get its error, and no others.
	free, err := reserve.Beyond(dir)
	if err != nil {
		t.Fatal(err)
	}
	loop, _ := Parse("loop:ext4")
	memory, _ := Parse("tmpfs")
	errs := Enough(dir, []Ask{{Need: free / 2}, {Volume: loop, Need: free / 2}, {Volume: memory, Need: 1 << 20}})
	if !errors.Is(errs[0], unix.ENOSPC) || !errors.Is(errs[1], unix.ENOSPC) || errs[2] != nil {
		t.Errorf("%v", errs)
	}
	errs = Enough(dir, []Ask{{Memory: 1 << 44}, {Volume: memory, Need: 1 << 20}, {Need: 1 << 10}})
	if !errors.Is(errs[0], unix.ENOMEM) || !errors.Is(errs[1], unix.ENOMEM) || errs[2] != nil {
		t.Errorf("servers' caches: %v", errs)
	}
}
