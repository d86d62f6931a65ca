// Package netmount mounts and unmounts file systems of servers, NFS and CephFS, also when the
// server no longer answers: on a hard mount, the right kind for data, every request then waits
// until the server is back. Each function here has a bound. The package knows no journal:
// callers record the undo before they mount.
package netmount

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/linux/proc"
)

// ErrSilent means that a server did not answer in time.
var ErrSilent = errors.New("the server does not answer")

// The bounds of a mount, of one question to the server, of processes that are ending and keep a
// mount busy, and of giving up.
const (
	Mounting = 40 * time.Second
	Asking   = 20 * time.Second
	busy     = 5 * time.Second
	aborting = 10 * time.Second
)

// Kind is a kind of file system.
type Kind struct {
	types   []string // in mountinfo
	program string
	pkg     string // Debian's package with the program
	look    string // command that shows whether the server runs
	// remedies are the remedies for the program's messages.
	remedies []remedy
}

type remedy struct{ says, do string }

// NFS has sources SERVER:/PATH.
func NFS() Kind {
	return Kind{
		types: []string{"nfs", "nfs4"}, program: "mount.nfs", pkg: "nfs-common (nfs-utils elsewhere)", look: "rpcinfo -t SERVER nfs",
		remedies: []remedy{
			{"access denied", "let the server export it to this host: exportfs -v shows to whom it does"},
			{"No such file", "name a path that the server exports: showmount -e SERVER (of version 4, paths begin at its root)"},
			{"rpc.statd is not running", "add nolock, ask for vers=4.2, or start rpc.statd"},
			{"not supported", ""}, // otherVersion
			{"No such device", "modprobe nfs nfsv4"},
			{"unknown filesystem", "modprobe nfs nfsv4"},
			{"Connection refused", "start the server, or name its port with port="},
			{"timed out", "look whether the server runs and the network leads there"},
			{"incorrect mount option", "dmesg says which mount option is wrong"},
		},
	}
}

// CephFS has sources :/PATH; the options name the file system and the cluster.
func CephFS() Kind {
	return Kind{
		types: []string{"ceph"}, program: "mount.ceph", pkg: "ceph-common", look: "ceph fs status",
		remedies: []remedy{
			{"No such file", "name a directory that is there: ceph fs ls shows the file systems"},
			{"no mds", "ceph fs status has to show an active mds"},
			{"Permission denied", "give the client rights: ceph fs authorize FS client.NAME / rw"},
			{"No such device", "modprobe ceph"},
			{"error 5 ", "ceph fs status has to show an active mds"},
		},
	}
}

// Program finds the program that mounts.
func (k Kind) Program() (string, error) {
	path, err := child.Find(k.program)
	if err != nil {
		return "", hint.New(errors.New(k.program+" is not installed"), "apt-get install "+k.pkg)
	}
	return path, nil
}

// Mount mounts a source on a directory.
func (k Kind) Mount(ctx context.Context, source, point, options string) error {
	program, err := k.Program()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Mounting)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, source, point, "-o", options)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	switch {
	case err == nil:
		return nil
	case ctx.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("mount %s: not done within %v: %w", source, Mounting, ErrSilent)
		return hint.New(err, "look whether the server runs: "+k.look)
	}
	return hint.New(fmt.Errorf("mount %s (%s): %w: %s", source, options, err, text), k.remedy(text, options))
}

// remedy is the remedy for a message of the program, which got these options.
func (k Kind) remedy(text, options string) string {
	for _, r := range k.remedies {
		if strings.Contains(text, r.says) {
			return cmp.Or(r.do, otherVersion(options))
		}
	}
	return ""
}

// asksVersion matches an option that asks for a version of NFS.
var asksVersion = regexp.MustCompile(`(?:^|,)(?:vers=|nfsvers=|v)([2-4](?:\.[0-2])?)(?:,|$)`)

// otherVersion proposes versions and transports that were not asked for.
func otherVersion(options string) string {
	asked := ""
	if m := asksVersion.FindStringSubmatch(options); m != nil {
		asked = m[1]
	}
	others := slices.DeleteFunc([]string{"vers=4.2", "vers=4.1", "vers=3"}, func(v string) bool {
		return asked != "" && strings.HasPrefix(strings.TrimPrefix(v, "vers="), asked)
	})
	out := "ask for another version: " + strings.Join(others, " or ")
	if asked == "3" {
		out += "; version 3 also needs rpcbind here and on the server, and rpc.statd here or nolock"
	}
	if strings.Contains(options, "proto=") || strings.Contains(options, "rdma") || strings.Contains(options, "udp") {
		out += "; or for another transport: proto=tcp"
	}
	return out
}

// On is the network mount at a point, nil if there is none. It does not ask the server.
func On(point string) (*proc.Mount, error) {
	mounts, err := proc.FS("/").Mounts()
	if err != nil {
		return nil, err
	}
	for i := len(mounts) - 1; i >= 0; i-- {
		if m := mounts[i]; m.Point == point && slices.Contains(append(NFS().types, CephFS().types...), m.Type) {
			return &m, nil
		}
	}
	return nil, nil
}

// Within runs work, which asks the server of the mount at a point. When the bound is over it
// aborts the requests, which then end with errors.
func Within(point string, bound time.Duration, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return gaveUp(point, err)
	case <-time.After(bound):
	}
	silent := fmt.Errorf("%s: nothing for %v: %w", point, bound, ErrSilent)
	for end := time.Now().Add(aborting); time.Now().Before(end); {
		Abort(point)
		select {
		case err := <-done:
			return errors.Join(silent, err)
		case <-time.After(time.Second):
		}
	}
	return silent
}

// gaveUp turns the error of a request that the kernel broke off into ErrSilent. NFS then
// returns one of the kernel's internal numbers, 512 to 530 (include/linux/errno.h), such as
// ERESTARTSYS.
func gaveUp(point string, err error) error {
	var n unix.Errno
	if errors.As(err, &n) && n >= 512 && n <= 530 {
		return fmt.Errorf("%s: %w: %w", point, ErrSilent, err)
	}
	return err
}

// Abort ends, with errors, the requests that wait for the server of a mount. It also unmounts a
// mount that nothing uses.
func Abort(point string) {
	go func() { _ = unix.Unmount(point, unix.MNT_FORCE|unix.UMOUNT_NOFOLLOW) }()
}

// Answers returns nil if the server of the mount at a point answers.
func Answers(point string) error {
	var st unix.Statfs_t
	return Within(point, Asking, func() error { return unix.Statfs(point, &st) })
}

// Unmount unmounts the mount at a point. For a silent server it forces the unmount, and
// unwritten data is lost. It unmounts lazily only when the mount stays busy.
func Unmount(point string, silent bool) error {
	if m, err := On(point); err != nil || m == nil {
		return err
	}
	if silent {
		return detach(point)
	}
	var err error
	for end := time.Now().Add(busy); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		err = Within(point, Asking, func() error { return unix.Unmount(point, unix.UMOUNT_NOFOLLOW) })
		if err == nil || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			break
		}
	}
	return errors.Join(fmt.Errorf("unmount %s: %w", point, err), detach(point))
}

// detach aborts the requests of a mount and detaches it. A request may then wait forever; it
// ends with this process at the latest.
func detach(point string) error {
	Abort(point)
	time.Sleep(time.Second)
	go func() { _ = unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) }()
	for end := time.Now().Add(aborting); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m, err := On(point); err != nil || m == nil {
			return err
		}
	}
	return &os.PathError{Op: "unmount lazily", Path: point, Err: unix.ETIMEDOUT}
}

// Wire is the round trip to the server: the shortest of several TCP handshakes, which the
// server's kernel answers without the server process.
func Wire(ctx context.Context, address string) (time.Duration, error) {
	const least, most, enough = 5, 30, 200 * time.Millisecond // a near server is asked more often
	d := net.Dialer{Timeout: 5 * time.Second}
	shortest := time.Duration(0)
	for i, first := 0, time.Now(); i < least || i < most && time.Since(first) < enough; i++ {
		began := time.Now()
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return 0, hint.New(fmt.Errorf("%w: %w", ErrSilent, err), "start the server, or name its port with port=")
		}
		if took := time.Since(began); i == 0 || took < shortest {
			shortest = took
		}
		c.Close()
	}
	return shortest, nil
}
