package sysbench

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

//go:embed hook.lua
var hookText string

// ScheduleBytes is the size of the memory that the threads of an open loop
// share; it is zeroed before.
const ScheduleBytes = 4096

// Hook is how the events of a script are counted.
type Hook struct {
	// Script is a bundled script's name or an absolute path.
	Script string
	// Counters is the descriptor of the counters as sysbench inherits it.
	Counters int
	Layout   counter.Layout
	// Rate is the arrivals per second of an open loop; 0 is a closed loop.
	// Schedule is then the descriptor of ScheduleBytes of shared memory.
	Rate     float64
	Schedule int
	// Origin is any moment not long ago, CLOCK_MONOTONIC in nanoseconds.
	Origin int64
}

// lateBy is what counts as late in an open loop: 1 ms, as in rpc.
const lateBy = 1_000_000

// Text is the Lua script to run instead of Script.
func (h Hook) Text() []byte {
	gap := 0.0
	if h.Rate > 0 {
		gap = 1e9 / h.Rate
	}
	words := []string{"script=" + quote(h.Script), "gap=" + strconv.FormatFloat(gap, 'g', -1, 64)}
	for name, n := range h.numbers() {
		words = append(words, name+"="+strconv.FormatInt(n, 10))
	}
	slices.Sort(words)
	return []byte("tare = {" + strings.Join(words, ", ") + "}\n" + hookText)
}

// numbers are the words of the table tare in hook.lua.
func (h Hook) numbers() map[string]int64 {
	_, limit := record.BucketBounds(record.Buckets - 1)
	out := map[string]int64{
		"origin_sec": h.Origin / 1e9, "origin_nsec": h.Origin % 1e9,
		"linear": int64(linearBuckets()), "limit": limit, "n": record.Buckets,
		"late": lateBy, "schedule_bytes": ScheduleBytes, "futex": unix.SYS_FUTEX,
	}
	l := h.Layout
	for name, n := range map[string]int{
		"fd": h.Counters, "bytes": l.Bytes, "slots": l.Slots, "first": l.FirstSlot, "stride": l.SlotBytes,
		"gate": l.Gate, "thawed": l.Thawed, "seed": l.Seed, "schedule": h.Schedule,
		"ops": l.Ops, "cut": l.Cut, "late_at": l.Late, "backlog": l.Backlog, "busy": l.Busy, "buckets": l.Buckets,
	} {
		out[name] = int64(n)
	}
	return out
}

// linearBuckets is how many buckets at the beginning are 1 ns wide.
func linearBuckets() int {
	for i := range record.Buckets {
		if low, high := record.BucketBounds(i); high-low > 1 {
			return i
		}
	}
	return record.Buckets
}

// quote is a Lua string: every byte that is not plain is a decimal escape.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03d", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
