package load

import (
	"strconv"
	"time"

	"github.com/tarelab/tare/record"
)

const (
	// ServerLimit is how long a server may take to answer.
	ServerLimit = time.Minute
	// WarmLimit bounds reading the data set once: one that is much larger than
	// the server's memory need not be read as a whole.
	WarmLimit = 10 * time.Second
	// WarmEvents of each thread of a tool come before the load is ready, or as many as
	// it does in WarmFor.
	WarmEvents = 50
	WarmFor    = 3 * time.Second
)

// FactsFd is the descriptor at which a load may inherit the file for facts.
const FactsFd = 4

// Inherited is the name of a file that a process inherited.
func Inherited(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Histogram sorts buckets.
func Histogram(buckets map[uint32]uint64) record.Histogram {
	var h record.Histogram
	for b, n := range buckets {
		h.Index, h.Count = append(h.Index, b), append(h.Count, n)
	}
	return record.Merge(h)
}
