package engines

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// An engine has no levels.
func TestNoLevels(t *testing.T) {
	for _, k := range []Kind{Docker, Podman} {
		for _, levels := range []string{"", "user", "user=", "name=x"} {
			if _, err := k.with(levels); err == nil {
				t.Errorf("%s:%q has no levels", k.Name(), levels)
			}
		}
	}
}

// Choices that a rootless container cannot have are refused with a remedy, by the plan and by Open.
func TestOwnLacks(t *testing.T) {
	launchtest.AsOrdinary(t, func(t *testing.T) {
		for _, c := range []environment.Container{{Network: environment.NetworkBridge}, {Image: "x"}} {
			if err := refuses(c); err == nil || hint.Of(err) == "" {
				t.Errorf("%+v: %v", c, err)
			}
			for _, k := range []Kind{Docker, Podman} {
				if _, err := k.Open(t.Context(), environment.Spec{Container: c}); !errors.Is(err, facts.ErrUnsupported) {
					t.Errorf("%s, %+v: %v, want ErrUnsupported", k.Name(), c, err)
				}
			}
		}
		if err := refuses(environment.Container{Network: environment.NetworkHost}); err != nil {
			t.Error(err)
		}
		if s := Docker.Support(facts.Host{}); s.Answer != facts.No || s.Remedy.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

// hideTun hides /dev/net/tun from this test and its children.
func hideTun(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("tmpfs", "/dev/net", "tmpfs", 0, "size=4k")
	}
	if !errors.Is(err, unix.ENOENT) { // there is none to hide
		testneed.Feature(t, "mounts", err)
	}
}

// The remedy gives the device to one user, not to all.
func TestTunForOne(t *testing.T) {
	if os.Geteuid() == 0 {
		hideTun(t)
	}
	launchtest.AsOrdinary(t, func(t *testing.T) {
		err := refuses(environment.Container{Network: environment.NetworkPublished})
		remedy := hint.Of(err)
		if !strings.Contains(remedy, "setfacl -m u:"+userName()+":rw /dev/net/tun") || strings.Contains(remedy, "chmod") || strings.Contains(remedy, "666") {
			t.Errorf("%v: %s", err, remedy)
		}
	})
}
