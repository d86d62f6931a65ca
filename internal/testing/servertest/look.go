package servertest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/linux/proc"
)

// watch checks the processes of a server or load.
type watch struct {
	arm  environment.OpenArm
	spec environment.Spec
	pid  int
	log  string
	seen map[string]bool // files that were open or mapped
	// outside is true if the process is not in the arm and has the host's mounts.
	outside bool
}

// inEtc are the files below /etc that a server may read.
var inEtc = []string{
	"/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/locale.alias", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd",
	"/etc/resolv.conf", "/etc/ssl/openssl.cnf", "/etc/timezone",
}

// packaged are prefixes of the paths of files that the distribution's packages install.
var packaged = []string{"/usr/", "/lib", "/bin/", "/sbin/", "/opt/"}

// pathless matches open files without a path: sockets, pipes, memory.
var pathless = regexp.MustCompile(`^(socket:|pipe:|anon_inode:|/memfd:|/dev/zero \(deleted\)|/SYSV[0-9a-f]{8} \(deleted\)|/\[aio\]|\[.*\]$|$)`)

// look checks the process and its descendants. who is the account that all must have. If who is nil, the
// process may still be starting: look then checks neither accounts nor processes that run tare's binary.
func (w watch) look(t *testing.T, who *account.Account) {
	t.Helper()
	for _, pid := range family(w.pid) {
		if who != nil {
			w.account(t, pid, *who)
		}
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if strings.HasSuffix(exe, ".test") || strings.HasSuffix(exe, "/.tare/tare") {
			if who == nil {
				continue
			}
		}
		w.files(t, pid)
		w.maps(t, pid)
	}
	w.mounts(t)
}

// family is a process and its descendants.
func family(pid int) []int {
	all := []int{pid}
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range children {
		b, _ := os.ReadFile(f)
		for word := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, family(n)...)
			}
		}
	}
	return all
}

// account checks that all user ids of a process are the account's and that it has no capability.
func (w watch) account(t *testing.T, pid int, who account.Account) {
	t.Helper()
	status, err := proc.FS("/").Status(pid)
	if err != nil {
		return // it has ended
	}
	id := strconv.Itoa(who.UID)
	if got := strings.Fields(status["Uid"]); !slices.Equal(got, []string{id, id, id, id}) {
		t.Errorf("process %d (%s) has the user ids %v, want %s", pid, status["Name"], got, id)
	}
	if strings.TrimSpace(status["Groups"]) != "" {
		t.Errorf("process %d has further groups %s", pid, status["Groups"])
	}
	for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
		if strings.Trim(status[set], "0") != "" {
			t.Errorf("process %d has capabilities: %s %s", pid, set, status[set])
		}
	}
}

// files checks the open files.
func (w watch) files(t *testing.T, pid int) {
	t.Helper()
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	for _, fd := range fds {
		file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
		info, infoErr := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd.Name()))
		if err != nil || infoErr != nil {
			continue // it was closed
		}
		flags, _ := strconv.ParseUint(regexp.MustCompile(`flags:\s*(\d+)`).FindStringSubmatch(string(info))[1], 8, 64)
		w.file(t, pid, file, flags&unix.O_PATH == 0 && flags&unix.O_ACCMODE != unix.O_RDONLY)
	}
}

// maps checks the mapped files. A shared writable mapping counts as a file open for writing.
func (w watch) maps(t *testing.T, pid int) {
	t.Helper()
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	for line := range strings.Lines(string(b)) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
		if len(words) == 6 {
			w.file(t, pid, strings.TrimSpace(words[5]), strings.Contains(words[1], "w") && strings.HasSuffix(words[1], "s"))
		}
	}
}

// file checks one file.
func (w watch) file(t *testing.T, pid int, file string, written bool) {
	t.Helper()
	w.seen[file] = true
	name := strings.TrimSuffix(file, " (deleted)")
	inside := func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }
	switch {
	case pathless.MatchString(file), inside(w.arm.Place().Volume), name == w.log, name == "/dev/null":
	case written:
		t.Errorf("process %d has %s open to be written", pid, file)
	case inside("/proc"), inside("/sys"), inside("/dev"), name == "/":
	case slices.ContainsFunc(packaged, func(dir string) bool { return strings.HasPrefix(name, dir) }), slices.Contains(inEtc, name):
	case name == self() || name == "/.tare/tare" || strings.HasSuffix(name, "/tare"): // tare itself
	default:
		t.Errorf("process %d has %s open", pid, file)
	}
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// mounts checks an arm with its own mount namespace: only the arm's directory and file systems in memory
// may be writable.
func (w watch) mounts(t *testing.T) {
	t.Helper()
	mine, err := os.Readlink("/proc/self/ns/mnt")
	its, itsErr := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", w.pid))
	if w.outside || err != nil || errors.Is(itsErr, fs.ErrNotExist) || mine == its || w.arm.Place().Volume == w.arm.Place().HostVolume {
		return // it has the host's mounts; its files were checked
	}
	all, err := proc.FS("/").MountsOf(strconv.Itoa(w.pid))
	if err != nil {
		return // it has ended
	}
	for _, m := range all {
		switch {
		case slices.Contains([]string{"proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2", "devtmpfs"}, m.Type):
		case slices.Contains(strings.Split(m.Options, ","), "ro"):
		case m.Type == "overlay" && (m.Point == "/" || w.ownUpper(m.Super)): // writes go to the upper directory; an engine's arm has an overlay for each top directory
		case strings.HasPrefix(m.Point, "/.tare/"), slices.Contains([]string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run/.containerenv"}, m.Point):
		default:
			t.Errorf("the arm can write to %s at %s", m.Type, m.Point)
		}
	}
}

// ownUpper is true if the upper directory of an overlay is the arm's.
func (w watch) ownUpper(options string) bool {
	return slices.ContainsFunc(strings.Split(options, ","), func(option string) bool {
		dir, found := strings.CutPrefix(option, "upperdir=")
		return found && strings.HasPrefix(filepath.Clean(dir), w.spec.Scratch+"/")
	})
}
