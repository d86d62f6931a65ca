// Package faultfs is a FUSE file system for tests. It passes all operations through to a directory
// and counts those that change it. It answers one of these, which the test chooses by its number,
// with an error. So the program under test needs no hooks.
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

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Kind is a kind of operation that changes the file system.
type Kind string

// The kinds.
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

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Write, Sync, Resize, Rename, Link, Unlink, Create, Mkdir} }

// Op is a counted operation.
type Op struct {
	Kind   Kind
	Number int // among those of its kind, from 1
	Path   string
}

func (o Op) String() string { return fmt.Sprintf("%s %d (%s)", o.Kind, o.Number, o.Path) }

// Fault is an error and the operation that fails with it.
type Fault struct {
	Kind    Kind
	Number  int // of the operation, from 1; 0: none
	Error   syscall.Errno
	Lasting bool // all later operations fail too, as far as they can have this error (see hits)
}

func (f Fault) String() string {
	how := "once"
	if f.Lasting {
		how = "from there on"
	}
	return fmt.Sprintf("%s %d: %v, %s", f.Kind, f.Number, f.Error, how)
}

// hits says whether a lasting fault fails operations of a kind. On a full disk (ENOSPC) unlink, rename
// and sync succeed, because they need no space. On a read-only file system (EROFS) sync succeeds.
func (f Fault) hits(k Kind) bool {
	if f.Error == syscall.ENOSPC {
		return k != Unlink && k != Sync && k != Rename
	}
	return f.Error != syscall.EROFS || k != Sync
}

// FS is a mounted file system.
type FS struct {
	Dir     string // mount point
	Backing string // the directory behind it; its files can be read without passing the file system

	mu         sync.Mutex
	counted    func(path string) bool // nil: all paths count
	fault      Fault
	seen       []Op
	counts     map[Kind]int
	hit        []Op
	synced     map[string][]byte
	keepSuffix string // suffix of the files whose synced content is kept
}

// Mount mounts a new file system until the end of the test.
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
	uncached := time.Duration(0) // tests also change the backing directory
	server, err := fs.Mount(f.Dir, root, &fs.Options{
		EntryTimeout: &uncached, AttrTimeout: &uncached, NegativeTimeout: &uncached, NullPermissions: true,
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

// closeOnExec keeps the descriptor that serves the file system out of the test's children. A
// child that outlives the test would keep the file system mounted with no server.
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

// Arm sets the fault and starts counting anew. counted says which paths count, relative to the root
// of the file system; nil: all.
func (f *FS) Arm(fault Fault, counted func(path string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.counted = fault, counted
	f.seen, f.counts, f.hit, f.synced = nil, map[Kind]int{}, nil, map[string][]byte{}
}

// Disarm ends the fault; Seen and Hit stay.
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

// Hit are the operations that the fault made fail, in order.
func (f *FS) Hit() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.hit)
}

// KeepSynced keeps the content that files with this suffix have at each sync.
func (f *FS) KeepSynced(suffix string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keepSuffix = suffix
}

// Synced is the longest content that a file had at a sync.
func (f *FS) Synced(path string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced[path]
}

// count counts an operation and returns the error to answer with; 0: carry it out.
func (f *FS) count(k Kind, path string) syscall.Errno {
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

// didSync keeps the content of a file that was synced.
func (f *FS) didSync(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keepSuffix == "" || !strings.HasSuffix(path, f.keepSuffix) {
		return
	}
	if b, err := os.ReadFile(f.Backing + "/" + path); err == nil {
		f.synced[path] = b
	}
}
