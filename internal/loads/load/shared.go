package load

import (
	"strconv"
	"time"

	"github.com/tarelab/tare/record"
)

const (
	// ServerLimit is how long a server may take to answer its first query.
	ServerLimit = time.Minute
	// WarmLimit bounds the time for reading the whole data set, which may be much larger than the
	// server's memory.
	WarmLimit = 10 * time.Second
	// A tool's load is ready after WarmEvents events of each thread, or after WarmFor.
	WarmEvents = 50
	WarmFor    = 3 * time.Second
)

// FactsFd is the inherited descriptor of the file for read-back settings (readback.Write).
const FactsFd = 4

// Inherited is the path of an inherited descriptor.
func Inherited(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Histogram makes a histogram of counts by bucket.
func Histogram(buckets map[uint32]uint64) record.Histogram {
	var h record.Histogram
	for b, n := range buckets {
		h.Index, h.Count = append(h.Index, b), append(h.Count, n)
	}
	return record.Merge(h)
}
