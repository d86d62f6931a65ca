package isolation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// ioWeight gives the neighbour a small share of the disk's time while both sides want it. It
// needs BFQ, the only scheduler that divides by weight.
type ioWeight struct{}

func (ioWeight) Describe() description {
	return description{Name: "io.weight", Title: record.Say("isolation_io_weight"),
		Level: level{Default: "1", Check: check(ioLevel)}}
}

func ioLevel(s string) (int, error) { return whole(s, 1, 1000) }

// weightFiles are the kernels' names of the file, best first.
func weightFiles(h facts.Host) []string {
	if v1(h, "io") {
		return []string{"blkio.bfq.weight", "blkio.weight"}
	}
	return []string{"io.bfq.weight", "io.weight"}
}

func (ioWeight) Support(h facts.Host) facts.Support {
	files := weightFiles(h)
	s := can(h, facts.Command("modprobe bfq"), "io", files[0])
	if s.Answer == facts.No && h.Control.Files[files[1]] {
		s = can(h, record.Said{}, "io")
	}
	if s.Answer == facts.Yes && h.Control.Scheduler != "bfq" {
		return facts.Unsupported(record.Say("no_io_weights", "scheduler", h.Control.Scheduler), record.Say("use_bfq", "disk", h.Control.Disk))
	}
	return s
}

func (ioWeight) Settings(level string, h facts.Host) (Settings, error) {
	n, err := ioLevel(level)
	if err != nil {
		return Settings{}, err
	}
	files := weightFiles(h)
	name := files[0]
	if !h.Control.Files[name] {
		name = files[1]
	}
	return Settings{Neighbour: []string{"io"}, Live: true, Files: []File{{
		Controller: "io", Name: name, Write: strconv.Itoa(n), Undo: "100", Took: weightIs(n),
	}}}, nil
}

// weightIs accepts both forms in which kernels show a weight: "default 10" and "10".
func weightIs(n int) func(string) bool {
	return func(got string) bool {
		f := strings.Fields(got)
		return len(f) > 0 && (f[0] == strconv.Itoa(n) || f[0] == "default" && len(f) > 1 && f[1] == strconv.Itoa(n))
	}
}

// ioMax limits the neighbour's reads and writes on the disk with the data, also while nobody
// else uses it. Version 1 does not limit writes through the page cache.
type ioMax struct{}

func (ioMax) Describe() description {
	return description{Name: "io.max", Title: record.Say("isolation_io_max"),
		Level: level{Default: "10MiB/s",
			Check: func(s string) error { _, _, err := perSecond(s); return err }}}
}

func (ioMax) Support(h facts.Host) facts.Support {
	if h.Control.Disk == "" {
		return facts.Unsupported(record.Say("no_disk_to_bound", "why", h.Control.DiskWhy), scratchOnDisk)
	}
	if v1(h, "io") {
		return can(h, kernelWithIOMax, "io", "blkio.throttle.read_bps_device")
	}
	return can(h, kernelWithIOMax, "io", "io.max")
}

func (ioMax) Settings(level string, h facts.Host) (Settings, error) {
	n, bytes, err := perSecond(level)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{Neighbour: []string{"io"}, Period: period, Live: true}
	if !v1(h, "io") {
		s.Files = []File{ioMaxFile(h.Control.Disk, n, bytes)}
		return s, nil
	}
	what := "iops"
	if bytes {
		what = "bps"
	}
	for _, way := range []string{"read", "write"} {
		line := fmt.Sprint(h.Control.Disk, " ", n)
		s.Files = append(s.Files, File{
			Controller: "io", Name: "blkio.throttle." + way + "_" + what + "_device",
			Write: line, Undo: h.Control.Disk + " 0", Took: func(got string) bool { return hasLine(got, line) },
		})
	}
	return s, nil
}

// ioMaxFile sets io.max of version 2: one line for each disk, with every limit.
func ioMaxFile(disk string, n uint64, bytes bool) File {
	keys := []string{"riops", "wiops"}
	if bytes {
		keys = []string{"rbps", "wbps"}
	}
	line, undo := disk, disk
	for _, k := range keys {
		line += fmt.Sprint(" ", k, "=", n)
		undo += " " + k + "=max"
	}
	return File{Controller: "io", Name: "io.max", Write: line, Undo: undo, Took: func(got string) bool {
		for l := range strings.Lines(got) {
			f := strings.Fields(l)
			if len(f) > 0 && f[0] == disk {
				return slices.Contains(f, fmt.Sprint(keys[0], "=", n)) && slices.Contains(f, fmt.Sprint(keys[1], "=", n))
			}
		}
		return false
	}}
}

func hasLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if cgroup.Same(l, line) {
			return true
		}
	}
	return false
}
