package probe

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// blockIO observes the block I/O that the kernel charges to the arm's group: io.stat of version
// 2, blkio.throttle.* of version 1. A buffered write is charged to the arm only when the arm
// itself starts the writeback (with a sync), or with version 2 when the memory and io
// controllers are both enabled. I/O on a stacked device (loop, dm) counts twice: there and on
// the device below.
type blockIO struct{}

func (blockIO) Name() string { return "block I/O" }

func (blockIO) Metrics() []Metric {
	return []Metric{
		{Name: "io.read", Unit: "B", PerOp: true, Help: helpIORead},
		{Name: "io.written", Unit: "B", PerOp: true, Help: helpIOWritten},
		{Name: "io.reads", Unit: "1", PerOp: true, Help: helpIOReads},
		{Name: "io.writes", Unit: "1", PerOp: true, Help: helpIOWrites},
	}
}

func (blockIO) Open(t Target) (Reader, error) {
	if t.Group.Dirs["io"] != "" {
		return openFiles(inGroup(t.Group, "io", []string{"io.stat"}, ioStat, "rbytes", "wbytes", "rios", "wios"))
	}
	const size, count = "blkio.throttle.io_service_bytes", "blkio.throttle.io_serviced"
	counts := &counting{root: rootBlkio(t.Group, count), disks: diskNumbers(proc.FS(t.Root))}
	parse := counts.blkio
	return openFiles(
		inGroup(t.Group, "blkio", []string{size + "_recursive", size}, parse, "Read", "Write"),
		inGroup(t.Group, "blkio", []string{count + "_recursive", count}, parse, "Read", "Write"))
}

func ioStat(text []byte, dst []float64) error {
	io, err := proc.IOStat(text)
	dst[0], dst[1], dst[2], dst[3] = io.ReadBytes, io.WriteBytes, io.Reads, io.Writes
	return err
}

// counting tells a group without I/O from a kernel that does not count it. Since Linux 6.10
// version 1 counts on a disk only after some group has got a limit on that disk; until then the
// files say "Total 0". The root group lists the disks that are counted.
type counting struct {
	root  string   // file of the root group; empty: not known
	disks []string // the disks that must be counted, as "254:0 "
	known bool     // the file of the root group was read
	err   error    // result of check, if known
}

var errNotCounted = errors.New("this kernel counts no block I/O by group of version 1 on a disk without a blkio.throttle limit in any group")

// blkio parses a file of the arm's group.
func (c *counting) blkio(text []byte, dst []float64) (err error) {
	dst[0], dst[1], err = proc.Blkio(text)
	if err == nil && bytes.HasPrefix(text, []byte("Total")) {
		if !c.known {
			c.known, c.err = true, c.check()
		}
		return c.err
	}
	return err
}

// check returns nil if the kernel counts: then a group without lines did no I/O. It runs once,
// because a group with I/O has lines.
func (c *counting) check() error {
	if c.root == "" {
		return nil
	}
	text, err := os.ReadFile(c.root)
	if err != nil {
		return err
	}
	all := "\n" + string(text)
	if strings.HasPrefix(all, "\nTotal") {
		return errNotCounted
	}
	for _, d := range c.disks {
		if !strings.Contains(all, "\n"+d) {
			return errNotCounted
		}
	}
	return nil
}

// rootBlkio is the path of a file in the root group of blkio; empty: there is no such group.
func rootBlkio(g cgroup.Group, file string) string {
	if g.Tree == nil || g.Tree.V1["blkio"] == "" {
		return ""
	}
	return filepath.Join(g.Tree.V1["blkio"], file)
}

// diskNumbers are "MAJOR:MINOR " of all disks with hardware or a hypervisor behind them, as
// lines of blkio files begin.
func diskNumbers(root proc.FS) (all []string) {
	found, _ := filepath.Glob(root.Path("sys/block/*/device"))
	for _, d := range found {
		if b, err := os.ReadFile(filepath.Join(filepath.Dir(d), "dev")); err == nil {
			all = append(all, strings.TrimSpace(string(b))+" ")
		}
	}
	return all
}
