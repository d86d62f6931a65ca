package volume

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
)

// mountFlags are mount options that are flags of mount(2) and not words for the file system.
func mountFlags() map[string]uintptr {
	return map[string]uintptr{
		"noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME, "strictatime": unix.MS_STRICTATIME,
		"sync": unix.MS_SYNCHRONOUS, "dirsync": unix.MS_DIRSYNC, "lazytime": unix.MS_LAZYTIME, "noexec": unix.MS_NOEXEC,
		"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
		"defaults": 0, "rw": 0, "async": 0, "atime": 0, "diratime": 0, "exec": 0,
	}
}

// notForDisk are mount options that tare refuses for a file system that it makes.
func notForDisk() []string {
	return []string{"ro", "remount", "bind", "rbind", "suid", "dev", "loop", "user", "users", "owner"}
}

// splitFlags returns the flags of mount(2) in mount options, and the words for the file system.
func splitFlags(options string) (flags uintptr, rest string) {
	var left []string
	for _, o := range words(options) {
		if f, ok := mountFlags()[o]; ok {
			flags |= f
		} else {
			left = append(left, o)
		}
	}
	return flags, strings.Join(left, ",")
}

// ofDisk says how the kernel shows the options of ext4, xfs and btrfs.
func ofDisk(system string) shown {
	s := shown{words: map[string]string{}, absent: map[string]string{}, unseen: map[string]string{}}
	switch system {
	case "ext4":
		s.words = map[string]string{
			"barrier=0": "nobarrier", "barrier=1": "barrier", "noload": "norecovery", "bsdgroups": "grpid", "sysvgroups": "nogrpid",
			"dioread_lock": "nodioread_nolock", "journal_async_commit": "journal_async_commit,journal_checksum",
		}
		s.unseen["journal_ioprio"] = "ext4 shows no priority of its journal"
	case "xfs":
		s.absent = map[string]string{
			"nodiscard": "discard", "nowsync": "wsync", "align": "noalign", "nolargeio": "largeio", "noikeep": "ikeep", "recovery": "norecovery",
		}
	case "btrfs":
		s.words = map[string]string{
			"compress": "compress=zlib", "compress=yes": "compress=zlib", "compress=no": "nocompress", "compress=none": "nocompress",
			"compress-force": "compress-force=zlib",
		}
		s.absent = map[string]string{
			"datacow": "nodatacow", "datasum": "nodatasum", "barrier": "nobarrier", "treelog": "notreelog", "noflushoncommit": "flushoncommit",
			"noautodefrag": "autodefrag", "acl": "noacl", "commit": "30", "max_inline": "2048",
			"nodiscard": "discard", "nocompress": "compress",
			"thread_pool": strconv.Itoa(min(runtime.NumCPU()+2, 8)),
		}
	}
	s.alike = func(_, want, got string) bool { return want+":3" == got } // the default level of zlib and zstd
	return s
}

// grantedDisk returns an error if the file system on point was mounted with other options than asked.
func grantedDisk(root proc.FS, point, system, asked string) error {
	mounts, err := root.Mounts()
	if err != nil {
		return err
	}
	m := proc.MountOf(mounts, point)
	if m == nil || m.Point != point {
		return fmt.Errorf("nothing is mounted on %s", point)
	}
	f := storage.OptionsOf(*m)
	f.Options = append(f.Options, allOfExt4(root, *m)...)
	return ofDisk(system).check(f, asked, "ask for what it gave")
}

// allOfExt4 are the options of ext4 with those that mountinfo leaves out; of other file systems none.
func allOfExt4(root proc.FS, m proc.Mount) []string {
	b, err := os.ReadFile(root.Path("proc/fs/ext4", m.Source[strings.LastIndex(m.Source, "/")+1:], "options"))
	if err != nil || m.Type != "ext4" {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(string(b)), func(o string) bool { return o == "rw" || o == "ro" })
}
