// Package volume describes and makes the file system of an arm's data directory: the arm's own
// root file system, a directory of the host, a directory on a mounted path, a fresh file system
// on a loop device, memory, or a file system of a server. A Volume is a description. Opening it
// makes the volume, after its undo is in the journal. The package knows file systems and
// devices, and no loads.
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
	RBD   = "rbd"   // a fresh file system on a new Ceph image, through the kernel's client
	NFS   = "nfs"   // a directory on an export of a server, mounted for the arm

	CephFS = "cephfs" // a directory on a Ceph file system, mounted for the arm
)

// Volume describes a volume. The zero value is Layer.
type Volume struct {
	kind string
	// path is, by kind: of Dir the directory; of RBD the pool and the beginning of the image's
	// name; of NFS SERVER:/PATH; of CephFS [NAME@]FS:/PATH; of Claim the StorageClass.
	path string
	// system is the file system to make, of Loop and RBD. options are those of the mount; of
	// RBD those of the mapping.
	system, options string
}

// Words are the words for volumes: whole words, and the beginnings of those with details.
func Words() []string {
	words := []string{Layer, Bind, Tmpfs}
	for _, f := range systems() {
		words = append(words, Loop+":"+f.name)
	}
	words = append(words, Dir+":/PATH", NFS+":SERVER:/PATH", CephFS+":FS:/PATH", RBD+":POOL/IMAGE")
	return append(words, EmptyDir, HostPath, Claim+":CLASS")
}

// Parse parses layer, bind, tmpfs, dir:/PATH, loop:ext4, loop:ext4:barrier=0 (with mount
// options), nfs:SERVER:/PATH,vers=4.2, cephfs:NAME@FS:/PATH, rbd:POOL/IMAGE,queue_depth=256, and of
// pods emptydir, hostpath and pvc:CLASS.
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
		for _, o := range words(v.options) {
			if slices.Contains(notForDisk(), o) {
				return Volume{}, hint.New(fmt.Errorf("volume %q: mount option %q is not for a volume of an arm", word, o), "leave it out: tare mounts it for reading and writing, with nosuid and nodev")
			}
		}
		return v, nil
	case kind == RBD && rest != "":
		return parseRBD(word, rest)
	case kind == NFS && rest != "":
		return parseNFS(word, rest)
	case kind == CephFS && rest != "":
		return parseCephFS(word, rest)
	case kind == Claim && rest != "":
		return parseClaim(word, rest)
	case !more && slices.Contains([]string{Layer, Bind, Tmpfs, EmptyDir, HostPath}, kind):
		return v, nil
	}
	if first, _, several := strings.Cut(word, ","); several {
		if _, err := Parse(first); err == nil {
			return Volume{}, fmt.Errorf("volume %q: want one word; --volume can be given several times", word)
		}
	}
	return Volume{}, fmt.Errorf("unknown volume %q%s", word, hint.DidYouMean(word, Words()))
}

// poolAndImage matches names that Ceph cannot take for options, snapshots or namespaces.
var poolAndImage = regexp.MustCompile(`^\w[\w.-]*/\w[\w.-]*$`)

// Directory is the path of a dir volume; empty: it is of another kind.
func (v Volume) Directory() string {
	if v.Kind() != Dir {
		return ""
	}
	return v.path
}

// Check returns what is wrong with a word for a volume, or nil.
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

// String is the word that Parse parses.
func (v Volume) String() string {
	switch v.Kind() {
	case Dir, Claim:
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

// Name is the volume in the name of an arm or of a file.
func (v Volume) Name() string { return nameOf(v.String()) }

func nameOf(word string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, word)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name, "-")
}

// NameAmong is Name, unless others have the same path and differ in their options alone: then it has
// the options that not all of them have.
func (v Volume) NameAmong(others []Volume) string {
	count, most := map[string]int{}, 0
	for _, o := range others {
		switch {
		case o.kind != v.kind || o.system != v.system:
			continue
		case o.path != v.path:
			return v.Name()
		}
		most++
		for _, x := range words(o.options) {
			count[x]++
		}
	}
	if most < 2 || v.options == "" {
		return v.Name()
	}
	own := slices.DeleteFunc(words(v.options), func(x string) bool { return count[x] == most })
	if len(own) == 0 {
		return v.Name()
	}
	kind := v.kind
	if kind == Loop {
		kind += "-" + v.system
	}
	return nameOf(kind + "-" + strings.Join(own, "-"))
}

// Opens says whether the volume must be opened; the others exist without that.
func (v Volume) Opens() bool { return v.Kind() != Layer && v.Kind() != Bind && !v.OfPod() }

// Binds says whether an arm with its own root file system gets the data directory as a bind
// mount.
func (v Volume) Binds() bool { return v.Kind() != Layer && !v.OfPod() }

// system is a file system that tare can make.
type system struct {
	name string
	// least is the size in bytes of the smallest file system that the program makes, with its
	// metadata. btrfs takes chunks of 128 MiB at once, two of them for metadata: with less room the
	// run ended as the next chunk would have filled the volume.
	least int64
	mkfs  []string // program and arguments; the device is appended
	mount string   // options of its mount, if any
	pkg   string   // Debian's package with the program
}

// systems are the file systems that tare can make. The options suppress discards, which would
// punch holes into the file, and lazy initialisation, which would go on during a measurement.
func systems() []system {
	return []system{
		{"ext4", 128 << 20, []string{"mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"}, "", "e2fsprogs"},
		{"xfs", 320 << 20, []string{"mkfs.xfs", "-q", "-f", "-K"}, "", "xfsprogs"},
		{"btrfs", 768 << 20, []string{"mkfs.btrfs", "-q", "-f", "-K"}, "nodiscard", "btrfs-progs"},
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
