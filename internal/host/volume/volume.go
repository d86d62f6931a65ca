// Package volume is what is under the data directory of an arm: the arm's own
// root file system, a directory of the host, a directory on anything that is
// mounted, a file system of its own on a fresh loop device, memory. A Volume is
// a description; opening one makes it, with its way back in the journal first.
// The package also says what is under any directory, and what is wrong with it
// for durable data. It knows file systems and devices, and nothing of loads.
package volume

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// The kinds of volumes: the words before the colon.
const (
	Layer = "layer" // the arm's own root file system: the upper layer of its overlay
	Bind  = "bind"  // a directory of the host, on the file system of scratch
	Dir   = "dir"   // a directory on any mounted path
	Loop  = "loop"  // a fresh file system of its own on a loop device
	Tmpfs = "tmpfs" // memory
	RBD   = "rbd"   // a fresh file system on a Ceph image of its own, by the kernel's client
	NFS   = "nfs"   // a directory on what a server exports, mounted for the arm

	CephFS = "cephfs" // a directory on a file system of Ceph, mounted for the arm
)

// Volume describes one. The zero value is the layer.
type Volume struct {
	kind string
	// path is the directory of Dir, of images the pool with the beginning of the
	// image's name, of NFS SERVER:/PATH and of CephFS [NAME@]FS:/PATH.
	path string
	// system is the file system of Loop and of images. options are those of the mount,
	// of RBD of the mapping.
	system, options string
}

// Words are the volumes that need no more said, and the beginnings of those
// that do.
func Words() []string {
	words := []string{Layer, Bind, Tmpfs}
	for _, f := range systems() {
		words = append(words, Loop+":"+f.name)
	}
	return append(words, Dir+":/PATH", NFS+":SERVER:/PATH", CephFS+":FS:/PATH", RBD+":POOL/IMAGE")
}

// Parse reads layer, bind, tmpfs, dir:/PATH, loop:ext4 or with mount options
// loop:ext4:barrier=0, nfs:SERVER:/PATH,vers=4.2, cephfs:NAME@FS:/PATH,
// rbd:POOL/IMAGE,queue_depth=256.
func Parse(word string) (Volume, error) {
	kind, rest, more := strings.Cut(word, ":")
	v := Volume{kind: kind}
	switch {
	case kind == Dir && rest != "":
		if !filepath.IsAbs(rest) || strings.ContainsAny(rest, "\x00\n") {
			return Volume{}, fmt.Errorf("volume %q: want an absolute path", word)
		}
		v.path = filepath.Clean(rest)
		return v, nil
	case kind == Loop && rest != "":
		v.system, v.options, _ = strings.Cut(rest, ":")
		if _, ok := systemOf(v.system); !ok {
			return Volume{}, fmt.Errorf("volume %q: no file system %q%s", word, v.system, hint.DidYouMean(v.system, systemNames()))
		}
		if strings.ContainsAny(v.options, " \t\n\x00") {
			return Volume{}, fmt.Errorf("volume %q: mount options have no blanks", word)
		}
		return v, nil
	case kind == RBD && rest != "":
		return parseRBD(word, rest)
	case kind == NFS && rest != "":
		return parseNFS(word, rest)
	case kind == CephFS && rest != "":
		return parseCephFS(word, rest)
	case !more && slices.Contains([]string{Layer, Bind, Tmpfs}, kind):
		return v, nil
	}
	return Volume{}, fmt.Errorf("unknown volume %q%s", word, hint.DidYouMean(word, Words()))
}

// poolAndImage are names that are no options, snapshots or namespaces to Ceph.
var poolAndImage = regexp.MustCompile(`^\w[\w.-]*/\w[\w.-]*$`)

// Check is what is wrong with a word; nil when nothing is.
func Check(word string) error {
	_, err := Parse(word)
	return err
}

// Kind is the word before the colon.
func (v Volume) Kind() string {
	if v.kind == "" {
		return Layer
	}
	return v.kind
}

// String is the word that Parse reads.
func (v Volume) String() string {
	switch v.Kind() {
	case Dir:
		return v.kind + ":" + v.path
	case NFS, CephFS, RBD:
		return v.kind + ":" + v.exported()
	case Loop:
		if v.options != "" {
			return v.kind + ":" + v.system + ":" + v.options
		}
		return v.kind + ":" + v.system
	}
	return v.Kind()
}

// Name is fit for the name of an arm and of a file.
func (v Volume) Name() string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, v.String())
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name, "-")
}

// Title is one line for people.
func (v Volume) Title() string {
	switch v.Kind() {
	case Layer:
		return "the arm's own root file system"
	case Bind:
		return "a directory of the host"
	case Dir:
		return "a directory on " + v.path
	case Tmpfs:
		return "memory (tmpfs)"
	case RBD:
		return v.system + " of its own on a Ceph image, by the kernel's client"
	case NFS:
		return "a directory on " + v.exported() + " (NFS)"
	case CephFS:
		return "a directory on " + v.exported() + " (CephFS)"
	}
	title := v.system + " of its own on a loop device"
	if v.options != "" {
		title += " (" + v.options + ")"
	}
	return title
}

// Opens says whether the volume has to be opened: the others are there anyway.
func (v Volume) Opens() bool { return v.Kind() != Layer && v.Kind() != Bind }

// Binds says that the data directory is bound into an arm with a root file
// system of its own.
func (v Volume) Binds() bool { return v.Kind() != Layer }

// system is a file system that can be made.
type system struct {
	name string
	// least is the smallest one that its tool makes, with what it takes for
	// itself, in bytes.
	least int64
	mkfs  []string // program and arguments; the device is appended
	mount string   // options of its mount, if any
	pkg   string   // that has the program, in Debian's words
}

// systems are made without discarding, which would punch holes into the file,
// and complete, so that nothing is initialised behind a measurement.
func systems() []system {
	return []system{
		{"ext4", 128 << 20, []string{"mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}, "", "e2fsprogs"},
		{"xfs", 320 << 20, []string{"mkfs.xfs", "-q", "-f", "-K"}, "", "xfsprogs"},
		{"btrfs", 256 << 20, []string{"mkfs.btrfs", "-q", "-f", "-K"}, "nodiscard", "btrfs-progs"},
	}
}

func systemOf(name string) (system, bool) {
	for _, f := range systems() {
		if f.name == name {
			return f, true
		}
	}
	return system{}, false
}

func systemNames() (names []string) {
	for _, f := range systems() {
		names = append(names, f.name)
	}
	return names
}
