package cli

import (
	"cmp"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
)

// roomy returns an error if the run would end at once because the host lacks space on the file
// system under test or of the result directory, or process ids. result is the directory; "":
// none is written.
func roomy(p *plan.Plan, result string, groups *cgroup.Tree) error {
	dirs := []struct{ dir, remedy string }{
		{cmp.Or(p.Scratch, inspect.DefaultScratch), "--scratch DIR, a directory on a file system with more room; df -h shows them"},
		{result, "-o DIR, a directory on a file system with more room; df -h shows them"},
	}
	for _, d := range dirs {
		if d.dir == "" {
			continue
		}
		room, err := reserve.OfDir(d.dir, d.remedy)
		if err == nil {
			err = reserve.Err(room...)
		}
		if err != nil {
			return err
		}
	}
	return reserve.Err(reserve.Pids(groups)...)
}
