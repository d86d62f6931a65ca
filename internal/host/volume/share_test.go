package volume

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

func TestCheckShares(t *testing.T) {
	var refused []journal.Step
	for _, s := range []shareStep{
		{"/x/tare-r2/mnt", "", "s:/x", "tare-r-a"}, {"/x/tare-r/mnt", "", "s:/x", "tare-r"}, {"/mnt", "", "s:/x", "tare-r-a"},
		{"/x/tare-r/mnt", "", "s:/x", "tare-r2-a"}, {"/x/tare-r/mnt", "", "s:/x", "tare-r-a/../b"}, {"/x/tare-r/mnt", "", "", "tare-r-a"},
		{"/x/tare-r/../mnt", "", "s:/x", "tare-r-a"}, {"x/tare-r/mnt", "", "s:/x", "tare-r-a"},
	} {
		refused = append(refused, NFSStep{s}, CephFSStep{s})
	}
	journaltest.Checks(t, []journal.Step{
		NFSStep{shareStep{"/x/tare-r-host.volume/mnt", "vers=4.2", "server:/x", "tare-r-host.volume"}},
		CephFSStep{shareStep{"/x/tare-r-a/mnt", "", ":/", "tare-r-a"}},
	}, refused)
}
