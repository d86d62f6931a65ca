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

// ScheduleBytes is the size of the memory that the threads of an open loop share. It must be zero at first.
const ScheduleBytes = 4096

// Hook describes the Lua script that counts the events of another script.
type Hook struct {
	// Script is the name of a bundled script or an absolute path.
	Script string
	// Counters is the descriptor of the counters as sysbench inherits it.
	Counters int
	Layout   counter.Layout
	// Rate is the arrivals per second of an open loop; 0: closed loop. In an open loop, Schedule is
	// the descriptor of ScheduleBytes of shared memory.
	Rate     float64
	Schedule int
	// Origin is a recent time, CLOCK_MONOTONIC in nanoseconds.
	Origin int64
}

// lateBy is the delay in nanoseconds from which on an event of an open loop counts as late, as in rpc.
const lateBy = 1_000_000

// Text returns the Lua script to run in place of Script.
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

// numbers returns the numeric fields of the table tare in hook.lua.
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

// linearBuckets returns how many buckets at the beginning are 1 ns wide.
func linearBuckets() int {
	for i := range record.Buckets {
		if low, high := record.BucketBounds(i); high-low > 1 {
			return i
		}
	}
	return record.Buckets
}

// quote writes a Lua string. Bytes other than printable ASCII are decimal escapes.
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
