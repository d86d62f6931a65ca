// Package faultfs is a file system of tests: it passes everything through to a
// directory, counts what would change it, and answers one such operation, by its number,
// with an error. What is tested on it is a program as it is, without any hook in it.
package faultfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/tarelab/tare/internal/testneed"
)

// Kind is a kind of operation that changes a file system.
type Kind string

// The kinds that are counted.
const (
	Write  Kind = "write"
	Sync   Kind = "sync"   // fsync and fdatasync, of directories too
	Resize Kind = "resize" // truncate and fallocate
	Rename Kind = "rename"
	Link   Kind = "link"   // and symlink
	Unlink Kind = "unlink" // and rmdir
	Create Kind = "create"
	Mkdir  Kind = "mkdir"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Write, Sync, Resize, Rename, Link, Unlink, Create, Mkdir} }

// Op is an operation that was counted.
type Op struct {
	Kind   Kind
	Number int // from 1, of its kind
	Path   string
}

func (o Op) String() string { return fmt.Sprintf("%s %d (%s)", o.Kind, o.Number, o.Path) }

// Fault is what one operation is answered with.
type Fault struct {
	Kind    Kind
	Number  int // from 1; 0: none
	Error   syscall.Errno
	Lasting bool // all that the error can hit fail from there on
}

func (f Fault) String() string {
	how := "once"
	if f.Lasting {
		how = "from there on"
	}
	return fmt.Sprintf("%s %d: %v, %s", f.Kind, f.Number, f.Error, how)
}

// hits says whether a fault that lasts hits a kind: what is removed needs no room, and
// what is written already can be synced.
func (f Fault) hits(k Kind) bool {
	if f.Error == syscall.ENOSPC {
		return k != Unlink && k != Sync && k != Rename
	}
	return f.Error != syscall.EROFS || k != Sync
}

// FS is a mounted file system.
type FS struct {
	Dir     string // where it is mounted
	Backing string // the directory behind it, which may be looked at without it

	mu      sync.Mutex
	counted func(path string) bool // nil: all are
	fault   Fault
	seen    []Op
	counts  map[Kind]int
	hit     []Op
	synced  map[string][]byte
	keep    string // what files whose synced content is kept end with
}

// Mount mounts a new one until the end of the test.
func Mount(t testing.TB) *FS {
	t.Helper()
	testneed.Root(t)
	_, err := os.Stat("/dev/fuse")
	testneed.Feature(t, "fuse", err)
	f := &FS{Dir: t.TempDir(), Backing: t.TempDir()}
	f.Arm(Fault{}, nil)
	root, err := f.root()
	if err != nil {
		t.Fatal(err)
	}
	brief := time.Duration(0) // others change what is behind it
	server, err := fs.Mount(f.Dir, root, &fs.Options{
		EntryTimeout: &brief, AttrTimeout: &brief, NegativeTimeout: &brief, NullPermissions: true,
		MountOptions: fuse.MountOptions{AllowOther: true, DirectMountStrict: true, FsName: "tare-faults", Name: "faultfs"},
	})
	if err != nil {
		t.Fatal(err)
	}
	closeOnExec()
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount %s: %v", f.Dir, err)
			_ = syscall.Unmount(f.Dir, syscall.MNT_DETACH)
		}
	})
	return f
}

// closeOnExec keeps the descriptor by which the file system is served from what a test
// starts: one that outlived the test would keep the file system up, with nobody to answer.
func closeOnExec() {
	all, _ := filepath.Glob("/proc/self/fd/*")
	for _, f := range all {
		if to, _ := os.Readlink(f); to != "/dev/fuse" {
			continue
		}
		if fd, err := strconv.Atoi(filepath.Base(f)); err == nil {
			syscall.CloseOnExec(fd)
		}
	}
}

// Arm forgets what was counted, and counts anew up to the fault. counted says which paths
// count, from the top of the file system; nil: all.
func (f *FS) Arm(fault Fault, counted func(path string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.counted = fault, counted
	f.seen, f.counts, f.hit, f.synced = nil, map[Kind]int{}, nil, map[string][]byte{}
}

// Disarm ends the fault; what was counted and hit stays.
func (f *FS) Disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = Fault{}
}

// Seen are the operations since Arm.
func (f *FS) Seen() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

// Hit are the operations that failed by the fault, the first one first.
func (f *FS) Hit() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.hit)
}

// KeepSynced keeps the content of files whose path ends so, as it was whenever one was
// synced.
func (f *FS) KeepSynced(suffix string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep = suffix
}

// Synced is what was in a file when it was last synced: the longest of them.
func (f *FS) Synced(path string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced[path]
}

// did counts an operation and says what it is answered with; 0: it is carried out.
func (f *FS) did(k Kind, path string) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counted != nil && !f.counted(path) {
		return 0
	}
	f.counts[k]++
	op := Op{k, f.counts[k], path}
	f.seen = append(f.seen, op)
	now := f.fault.Number > 0 && k == f.fault.Kind && op.Number == f.fault.Number
	if !now && (len(f.hit) == 0 || !f.fault.Lasting || !f.fault.hits(k)) {
		return 0
	}
	f.hit = append(f.hit, op)
	return f.fault.Error
}

// didSync keeps what a file holds that was synced.
func (f *FS) didSync(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keep == "" || !strings.HasSuffix(path, f.keep) {
		return
	}
	if b, err := os.ReadFile(f.Backing + "/" + path); err == nil {
		f.synced[path] = b
	}
}
