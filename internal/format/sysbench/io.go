package sysbench

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
)

func (r *Run) fileio() *FileIO {
	if r.FileIO == nil {
		r.FileIO = &FileIO{}
	}
	r.test("fileio")
	return r.FileIO
}

func (r *Run) memory() *Memory {
	if r.Memory == nil {
		r.Memory = &Memory{}
	}
	r.test("memory")
	return r.Memory
}

// fileLine reads the result of fileio of 1.0 and 1.1.
func (r *Run) fileLine(key string, value []byte) bool {
	x := format.Leading(value)
	switch key {
	case "reads/s":
		r.fileio().Reads = x
	case "writes/s":
		r.fileio().Writes = x
	case "fsyncs/s":
		r.fileio().Syncs = x
	case "read, MiB/s", "read, MB/s":
		r.fileio().ReadBytes = x.Times(mebi)
	case "written, MiB/s", "written, MB/s":
		r.fileio().WriteBytes = x.Times(mebi)
	case "read":
		r.fileio().Reads, r.fileio().ReadBytes = iops(value)
	case "write":
		r.fileio().Writes, r.fileio().WriteBytes = iops(value)
	case "fsync":
		r.fileio().Syncs, _ = iops(value)
	default:
		return false
	}
	return true
}

// iops reads "IOPS=9366.47 146.35 MiB/s (153.46 MB/s)" of 1.1.
func iops(value []byte) (perSecond, bytesPerSecond format.Num) {
	rest, ok := bytes.CutPrefix(value, []byte("IOPS="))
	if !ok {
		return
	}
	perSecond = format.Leading(rest)
	if _, mib, ok := bytes.Cut(rest, []byte(" ")); ok && bytes.Contains(mib, []byte(" MiB/s")) {
		bytesPerSecond = format.Leading(mib).Times(mebi)
	}
	return perSecond, bytesPerSecond
}

// sentence reads the results that are sentences: fileio before 1.0, memory.
func (r *Run) sentence(text []byte) bool {
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	switch {
	case bytes.HasPrefix(text, []byte("Operations performed: ")) && has(" Total"):
		r.fileio()
	case bytes.HasPrefix(text, []byte("Read ")) && has("Total transferred "):
		r.transferred(text)
	case has("Requests/sec executed"):
		r.fileio().Requests = format.Leading(text)
	case bytes.HasPrefix(text, []byte("Operations performed: ")) && has("ops/sec"):
		r.memory().Operations = count(text[len("Operations performed: "):])
	case bytes.HasPrefix(text, []byte("Total operations: ")):
		r.memory().Operations = count(text[len("Total operations: "):])
	case has(" transferred (") && (has("MiB/sec)") || has("MB/sec)")):
		c := count(text)
		r.memory().Bytes, r.memory().Transfer = c.Total.Times(mebi), c.Rate.Times(mebi)
	case bytes.HasPrefix(text, []byte("Number of unfinished transactions")):
		_, n, _ := bytes.Cut(text, []byte(":"))
		r.Unfinished = format.Whole(n)
	default:
		return false
	}
	return true
}

// transferred reads "Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb
// (72.042Mb/sec)" of 0.4 and 0.5, whose letters are powers of 1024.
func (r *Run) transferred(text []byte) {
	_, total, ok := bytes.Cut(text, []byte("("))
	if !ok {
		return
	}
	x, n := format.Number(total)
	if n == 0 || n >= len(total) {
		return
	}
	unit := 1.0
	switch total[n] {
	case 'K':
		unit = 1 << 10
	case 'M':
		unit = 1 << 20
	case 'G':
		unit = 1 << 30
	case 'T':
		unit = 1 << 40
	}
	r.fileio().Bytes = format.Some(x * unit)
}

// bar reads a line of the histogram: "       0.630 |*********     57".
func (r *Run) bar(text []byte) bool {
	if bytes.HasPrefix(text, []byte("value  ---")) {
		return true
	}
	left, right, ok := bytes.Cut(text, []byte("|"))
	if !ok {
		return false
	}
	ms, ok := format.Whole(left).Get()
	right = bytes.TrimLeft(right, "* ")
	n, size := format.Uint(right)
	if !ok || size == 0 || size != len(right) || ms <= 0 {
		return false
	}
	r.Histogram = append(r.Histogram, format.Bin{Seconds: ms / milli, Count: n})
	return true
}
