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

// blockIO observes block input and output that is charged to the arm's group:
// io.stat of version 2, blkio.throttle.* of version 1. Buffered writes are
// charged to the arm only where it starts their writeback itself (a sync), or by
// version 2 with memory and io controllers together. A stacked device counts
// beside the one under it.
type blockIO struct{}

func (blockIO) Name() string { return "block I/O" }

func (blockIO) Metrics() []Metric {
	return []Metric{
		{Name: "io.read", Unit: "B", PerOp: true, Help: "bytes that the arm read from disks"},
		{Name: "io.written", Unit: "B", PerOp: true, Help: "bytes that the arm wrote to disks"},
		{Name: "io.reads", Unit: "1", PerOp: true, Help: "read operations of the arm on disks"},
		{Name: "io.writes", Unit: "1", PerOp: true, Help: "write operations of the arm on disks"},
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

// counting tells a group that did no input and output from a kernel that does
// not count it. Since Linux 6.10 version 1 counts on a disk only from the moment
// at which some group has a limit on it; until then the files say "Total 0". The
// root group lists the disks that are counted.
type counting struct {
	root  string   // file of the root group; "" when it is not known
	disks []string // "254:0 ", the disks that have to be there
	known bool     // the root group was looked at
	err   error    // what it said
}

var errNotCounted = errors.New("this kernel counts no block I/O by group of version 1 on a disk without a blkio.throttle limit in any group")

// blkio reads a file of the arm's group.
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

// check is nil when a group without a line did nothing. It is asked once: a group
// that does something gets lines.
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

// rootBlkio is a file of the root group of blkio.
func rootBlkio(g cgroup.Group, file string) string {
	if g.Tree == nil || g.Tree.V1["blkio"] == "" {
		return ""
	}
	return filepath.Join(g.Tree.V1["blkio"], file)
}

// diskNumbers are the numbers of all real disks as blkio files begin lines.
func diskNumbers(root proc.FS) (all []string) {
	found, _ := filepath.Glob(root.Path("sys/block/*/device"))
	for _, d := range found {
		if b, err := os.ReadFile(filepath.Join(filepath.Dir(d), "dev")); err == nil {
			all = append(all, strings.TrimSpace(string(b))+" ")
		}
	}
	return all
}
