package netmount

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An internal error number of the kernel is ErrSilent.
func TestGaveUp(t *testing.T) {
	for err, silent := range map[error]bool{
		unix.Errno(512): true, unix.Errno(530): true, &os.PathError{Op: "statfs", Path: "/x", Err: unix.Errno(512)}: true,
		unix.EIO: false, unix.Errno(511): false, nil: false,
	} {
		got := Within("/x", time.Minute, func() error { return err })
		if errors.Is(got, ErrSilent) != silent || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// The remedy for a version that the server refuses is another one.
func TestOtherVersion(t *testing.T) {
	const says = "mount.nfs: requested NFS version or transport protocol is not supported"
	for options, want := range map[string]string{
		"vers=3,nosharecache": "vers=4.2 or vers=4.1;", "nfsvers=3": "vers=4.2 or vers=4.1;", "hard,v3": "vers=4.2 or vers=4.1;", "vers=4.2,hard": "vers=4.1 or vers=3", "vers=4": "another version: vers=3", "": "vers=4.2 or vers=4.1 or vers=3",
		"proto=udp,vers=3": "proto=tcp",
	} {
		got := NFS().remedy(says, options)
		if !strings.Contains(got, want) || strings.Contains(options, "3") && strings.Contains(got, "vers=3") {
			t.Errorf("%q: %q, want %q in it", options, got, want)
		}
	}
	if got := NFS().remedy("mount.nfs: rpc.statd is not running but is required for remote locking.\nmount.nfs: Protocol not supported", "vers=3"); !strings.Contains(got, "start rpc.statd") {
		t.Error(got)
	}
}
