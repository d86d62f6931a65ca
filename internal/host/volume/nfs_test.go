package volume

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/netmount"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/testing/nfstest"
	"github.com/tarelab/tare/internal/undo/journal"
)

func TestParseNFS(t *testing.T) {
	for word, want := range map[string][2]string{
		"nfs:srv:/export":                              {"nfs-srv-export", "srv:2049"},
		"nfs:srv:/":                                    {"nfs-srv", "srv:2049"},
		"nfs:10.0.0.1:/a/b,vers=4.2,nconnect=4":        {"nfs-10-0-0-1-a-b-vers-4-2-nconnect-4", "10.0.0.1:2049"},
		"nfs:[fd00::1]:/a,port=2050":                   {"nfs-fd00-1-a-port-2050", "[fd00::1]:2050"},
		"nfs:srv.example:/a,soft,rsize=65536,timeo=10": {"nfs-srv-example-a-soft-rsize-65536-timeo-10", "srv.example:2049"},
	} {
		v, err := Parse(word)
		if err != nil || v.String() != word || v.Name() != want[0] || v.address() != want[1] || !v.Binds() || !v.Opens() {
			t.Errorf("%s: %s %s %v", word, v, v.Name(), err)
		}
	}
	for word, says := range map[string]string{
		"nfs": "nfs:SERVER:/PATH", "nfs:": "nfs:SERVER:/PATH", "nfs:srv": "want nfs:SERVER:/PATH", "nfs:srv:relative": "want nfs:", "nfs:-o:/x": "want nfs:",
		"nfs:srv:/a,bg": `"bg"`, "nfs:srv:/a,vers=4,ro": `"ro"`, "nfs:srv:/a,sharecache": `"sharecache"`, "nfs:srv:/a,retry=5": "retry", "nfs:srv:/a,,hard": `""`,
		"nfs:srv:/a b": "want nfs:", "nfs:srv:/a,x y": "want nfs:",
	} {
		if err := Check(word); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", word, err, says)
		}
	}
}

// tree makes a fixture of files below a root.
func tree(t *testing.T, files map[string]string) proc.FS {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return proc.FS(root)
}

func TestClientOfKernel(t *testing.T) {
	for want, files := range map[bool]map[string]string{
		false: {"proc/filesystems": "nodev\tproc\n\text4", "proc/sys/kernel/osrelease": "6.1"},
		true:  {"proc/filesystems": "\text4", "proc/sys/kernel/osrelease": "6.1", "lib/modules/6.1/modules.dep": "kernel/fs/nfs/nfs.ko: kernel/net/sunrpc/sunrpc.ko"},
	} {
		if got := clientOf(tree(t, files), "nfs4", "nfs"); got != want {
			t.Errorf("%v: %v", files, got)
		}
	}
	if !clientOf(tree(t, map[string]string{"proc/filesystems": "nodev\tnfs4"}), "nfs4", "nfs") {
		t.Error("a kernel that has it mounted")
	}
}

// With a real server the volume is mounted, holds data, and is removed without a trace on both
// sides, also after a reboot and when the server did not answer.
func TestNFS(t *testing.T) {
	server := nfstest.Start(t)
	v, err := Parse("nfs:127.0.0.1:" + server.Dir + ",vers=4.2,nconnect=2,hard")
	if err != nil {
		t.Fatal(err)
	}
	if s := v.Support(facts.Host{Root: true}); s.Answer != facts.Yes {
		t.Fatalf("%+v", s)
	}
	t.Run("open", func(t *testing.T) { openedNFS(t, server, v) })
	t.Run("refused", func(t *testing.T) { refusedNFS(t, server) })
	t.Run("rebooted", func(t *testing.T) { rebootedNFS(t, server, v) })
	t.Run("silent", func(t *testing.T) { silentNFS(t, server, v) })
}

func openedNFS(t *testing.T, server *nfstest.Server, v Volume) {
	s, left := spec(t, "arm")
	o, err := v.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := storage.Of("/", o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f.Settings(), o.Settings())
	if !f.Network() || f.Mount.Type != "nfs4" || !f.Has("nosharecache") || !f.Has("hard") || f.Option("nconnect") != "2" || f.Option("vers") != "4.2" || len(o.Settings()) != 2 {
		t.Errorf("it is on %+v, settings %v", f, o.Settings())
	}
	texts := ""
	for _, w := range f.Warnings() {
		texts += said.English(w.Text) + "\n"
	}
	if !strings.Contains(texts, "the server is this host") || !strings.Contains(texts, "sync or async") {
		t.Errorf("warnings: %s", texts)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "file"), make([]byte, s.Need), 0o600); err != nil {
		t.Errorf("the data does not fit: %v", err)
	}
	// The same server by another address: the kernel would use its first connection.
	other, _ := Parse("nfs:127.0.0.2:" + server.Dir + ",vers=4.2,nconnect=2")
	if second, err := other.Open(t.Context(), Spec{Run: "test", Arm: "other", Scratch: s.Scratch, Need: 1, Journal: s.Journal}); err == nil || !strings.Contains(err.Error(), "server of another mount") {
		t.Errorf("another address of the same server: %v", err)
		_ = second
	}
	// The kernel uses the connection of the first mount, whatever the second asks for.
	for _, c := range []struct{ options, says string }{{",vers=4.2,nconnect=4", "asked for nconnect=4"}, {",vers=4.2", "nconnect=2, which was not asked for"}, {",vers=4.2,nconnect=2,noresvport", "noresvport and resvport"}} {
		other, _ := Parse("nfs:127.0.0.1:" + server.Dir + c.options)
		if second, err := other.Open(t.Context(), Spec{Run: "test", Arm: "other", Scratch: s.Scratch, Need: 1, Journal: s.Journal}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", other, err)
			_ = second
		}
		if err := Apart("/", []Volume{other}); err == nil {
			t.Errorf("%s is not refused before the run", other)
		}
	}
	if err := errors.Join(o.Close(), o.Close()); err != nil {
		t.Error(err)
	}
	cleanNFS(t, server, s.Scratch)
	if l := left(); len(l) != 0 {
		t.Errorf("left in the journal: %+v", l)
	}
}

// cleanNFS expects that nothing is left, here or on the server.
func cleanNFS(t *testing.T, server *nfstest.Server, scratch string) {
	t.Helper()
	if names := server.Names(); len(names) > 0 {
		t.Errorf("the server has %v", names)
	}
	if rest, _ := os.ReadDir(scratch); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	for _, point := range mountedNFS(t) {
		t.Errorf("left mounted: %s", point)
	}
}

// mountedNFS are the mount points of NFS, the newest first.
func mountedNFS(t *testing.T) (points []string) {
	t.Helper()
	mounts, err := proc.FS("/").Mounts()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Backward(mounts) {
		if strings.HasPrefix(m.Type, "nfs") && m.Type != "nfsd" {
			points = append(points, m.Point)
		}
	}
	return points
}

// refusedNFS opens exports that the server does not have, gives with other options, or has no
// room on.
func refusedNFS(t *testing.T, server *nfstest.Server) {
	for word, says := range map[string]string{
		"nfs:127.0.0.1:" + server.Dir + "/none":          "No such file",
		"nfs:127.0.0.1:" + server.Dir + ",rsize=4096000": "asked for rsize=4096000",
		"nfs:127.0.0.1:" + server.Dir + ",nonsense=1":    "mount",
	} {
		v, err := Parse(word)
		if err != nil {
			t.Fatal(err)
		}
		s, left := spec(t, "arm")
		if o, err := v.Open(t.Context(), s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", word, err, says)
			_ = o
		}
		cleanNFS(t, server, s.Scratch)
		if l := left(); len(l) != 0 {
			t.Errorf("%s: left in the journal: %+v", word, l)
		}
	}
	v, _ := Parse("nfs:127.0.0.1:" + server.Dir)
	s, _ := spec(t, "arm")
	s.Need = 1 << 50
	if _, err := v.Open(t.Context(), s); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("no room: %v", err)
	}
	cleanNFS(t, server, s.Scratch)
}

// runNFS opens a volume for a run with a journal of its own, and writes to it.
func runNFS(t *testing.T, v Volume) (state, scratch string, o *Opened) {
	t.Helper()
	state, scratch = t.TempDir(), filepath.Join(t.TempDir(), "tare-gone")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(state, "gone")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	o, err = v.Open(t.Context(), Spec{Run: "gone", Arm: "arm", Scratch: scratch, Need: 1 << 20, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "file"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return state, scratch, o
}

// rebootedNFS undoes a run whose mount is gone: the directory on the server is removed all the
// same.
func rebootedNFS(t *testing.T, server *nfstest.Server, v Volume) {
	state, scratch, o := runNFS(t, v)
	if err := o.spec.Journal.Close(); err != nil { // as after a kill
		t.Fatal(err)
	}
	for _, point := range mountedNFS(t) {
		if err := unix.Unmount(point, 0); err != nil {
			t.Fatalf("unmount %s: %v", point, err)
		}
	}
	if names := server.Names(); len(names) != 1 {
		t.Errorf("the server has %v", names)
	}
	undoAsAnother(t, state, "gone")
	cleanNFS(t, server, scratch)
}

// silentNFS stops the server while data is unwritten. Close ends with an error and leaves no
// mount; when the server is back the leftovers are removed.
func silentNFS(t *testing.T, server *nfstest.Server, v Volume) {
	state, scratch, o := runNFS(t, v)
	f, err := os.Create(filepath.Join(o.Dir, "dirty"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	server.Serve(0)
	if s := v.Support(facts.Host{Root: true}); s.Answer != facts.No || s.Remedy.IsZero() {
		t.Errorf("a server that is gone: %+v", s)
	}
	began := time.Now()
	err = o.Close()
	t.Logf("closed after %.0f s: %v", time.Since(began).Seconds(), err)
	if !errors.Is(err, netmount.ErrSilent) {
		t.Errorf("closed: %v", err)
	}
	if points := mountedNFS(t); len(points) > 0 {
		t.Errorf("still mounted: %q", points)
	}
	if err := o.spec.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	server.Serve(4)
	undoAsAnother(t, state, "gone")
	cleanNFS(t, server, scratch)
}
