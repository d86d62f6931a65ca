package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// dataMount is the mount with the arm's data directory.
func dataMount(t Target) (proc.Mount, error) {
	if t.Data == "" {
		return proc.Mount{}, fmt.Errorf("%w: the device of the data is unknown", errNothing)
	}
	root := proc.FS(t.Root)
	mounts, err := root.Mounts()
	if err != nil {
		return proc.Mount{}, fmt.Errorf("%w: %w", errNothing, err)
	}
	dir := filepath.Clean(t.Data)
	real, err := storage.Answered(dir, func() (string, error) { return filepath.EvalSymlinks(root.Path(dir)) })
	if hint.Of(err) != "" { // the server of the file system does not answer
		return proc.Mount{}, err
	}
	if err == nil {
		dir = "/" + strings.Trim(strings.TrimPrefix(real, filepath.Clean(t.Root)), "/")
	}
	m := proc.MountOf(mounts, dir)
	if m == nil {
		return proc.Mount{}, fmt.Errorf("%w: %s is on no mount", errNothing, dir)
	}
	return *m, nil
}

// device observes the block device with the arm's data, also an image of Ceph: how long its
// requests take, and how many are in flight when a window ends. The time of a stacked device
// (loop, dm) includes that of the device below.
type device struct{}

func (device) Name() string { return nameDevice }

func (device) Metrics() []Metric {
	return []Metric{
		{Name: "device.reads", Unit: "1", PerOp: true, Help: helpDeviceReads},
		{Name: "device.writes", Unit: "1", PerOp: true, Help: helpDeviceWrites},
		{Name: "device.flushes", Unit: "1", PerOp: true, Help: helpDeviceFlushes},
		{Name: "device.read.time", Unit: "s", Of: "device.reads", Help: helpDeviceReadTime},
		{Name: "device.write.time", Unit: "s", Of: "device.writes", Help: helpDeviceWriteTime},
		{Name: "device.flush.time", Unit: "s", Of: "device.flushes", Help: helpDeviceFlushTime},
		{Name: "device.inflight", Unit: "1", Kind: Level, Help: helpDeviceInflight},
	}
}

func (p device) Open(t Target) (Reader, error) {
	m, err := dataMount(t)
	if err != nil {
		return nil, err
	}
	d, ok := storage.DeviceOf(proc.FS(t.Root), m)
	if !ok {
		return nil, fmt.Errorf("%w: the data is on no block device", errNothing)
	}
	if !t.Host {
		return nil, t.notHost()
	}
	metrics := p.Metrics()
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	var why record.Said
	if _, err := os.Stat(filepath.Join(d.Dir, "mq")); errors.Is(err, fs.ErrNotExist) {
		why = noFlushes
	}
	return openFiles(source{paths: []string{filepath.Join(d.Dir, "stat")}, names: names, why: why,
		parse: func(text []byte, dst []float64) error {
			d, err := proc.DiskStat(text)
			if !why.IsZero() { // the kernel shows 0
				d.Flushes, d.FlushTime = math.NaN(), math.NaN()
			}
			copy(dst, []float64{d.Reads, d.Writes, d.Flushes, d.ReadTime, d.WriteTime, d.FlushTime, d.InFlight})
			return err
		}})
}
