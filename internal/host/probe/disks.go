package probe

import (
	"errors"
	"path/filepath"

	"github.com/tarelab/tare/internal/linux/proc"
)

// disks observes all real disks of the host. Unlike block I/O by group, every arm has these
// numbers, also an arm without a group. All other arms are frozen while an arm runs, so the
// difference is the I/O of that arm, of foreign processes and of the kernel's own writeback.
type disks struct{}

func (disks) Name() string { return "disks" }

func (disks) Metrics() []Metric {
	return []Metric{
		{Name: "disk.read", Unit: "B", PerOp: true, Help: helpDiskRead},
		{Name: "disk.written", Unit: "B", PerOp: true, Help: helpDiskWritten},
		{Name: "disk.reads", Unit: "1", PerOp: true, Help: helpDiskReads},
		{Name: "disk.writes", Unit: "1", PerOp: true, Help: helpDiskWrites},
		{Name: "disk.flushes", Unit: "1", PerOp: true, Help: helpDiskFlushes},
	}
}

// Open finds the disks with hardware or a hypervisor behind them; a stacked device would count
// the same I/O twice.
func (disks) Open(t Target) (Reader, error) {
	if !t.Host {
		return nil, t.notHost()
	}
	found, err := filepath.Glob(proc.FS(t.Root).Path("sys/block/*/device"))
	if err != nil {
		return nil, err
	}
	all := newSum(5)
	for _, device := range found {
		one, err := openFiles(source{
			paths: []string{filepath.Join(filepath.Dir(device), "stat")}, parse: diskStat,
			names: []string{"sectors read", "sectors written", "reads", "writes", "flushes"}})
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all.parts = append(all.parts, one)
	}
	if len(all.parts) == 0 {
		return nil, errors.New("no disk is visible in /sys/block")
	}
	return all, nil
}

func diskStat(text []byte, dst []float64) error {
	d, err := proc.DiskStat(text)
	dst[0], dst[1], dst[2], dst[3], dst[4] = d.ReadBytes, d.WriteBytes, d.Reads, d.Writes, d.Flushes
	return err
}
