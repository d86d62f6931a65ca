package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// A run on a disk with too little space is refused before it begins. The remedy names the flag for
// another directory.
func TestRoomy(t *testing.T) {
	testneed.Root(t)
	small := t.TempDir()
	if err := unix.Mount("tare-test", small, "tmpfs", 0, "size=1000m"); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	defer unix.Unmount(small, unix.MNT_DETACH)
	large := t.TempDir()
	if err := unix.Mount("tare-test", large, "tmpfs", 0, "size=2g"); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	defer unix.Unmount(large, unix.MNT_DETACH)
	for _, c := range []struct{ scratch, result, remedy string }{
		{large, "", ""},
		{large, filepath.Join(large, "not there"), ""},
		{small, "", "--scratch DIR"},
		{small, large, "--scratch DIR"},
		{large, filepath.Join(small, "not there"), "-o DIR"},
	} {
		err := roomy(&plan.Plan{Scratch: c.scratch}, c.result, nil)
		if (err != nil) != (c.remedy != "") {
			t.Errorf("%+v: %v", c, err)
		}
		if err != nil && (exitCode(err) != exitUnsupported || !strings.HasPrefix(hint.Of(err), c.remedy) || !strings.Contains(err.Error(), small)) {
			t.Errorf("%+v: %v (%s), exit code %d", c, err, hint.Of(err), exitCode(err))
		}
	}
}
