package enforce

import (
	"testing"

	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

func TestCheckClass(t *testing.T) {
	journaltest.Checks(t, []journal.Step{ClassStep{"/sys/fs/resctrl/tare-r-host"}}, []journal.Step{
		ClassStep{"/sys/fs/resctrl/tare-r2"}, ClassStep{"/sys/fs/resctrl"}, ClassStep{"/sys/fs/resctrl/tare-r/.."}, ClassStep{"tare-r"}, ClassStep{},
	})
}
