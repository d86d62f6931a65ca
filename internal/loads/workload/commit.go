package workload

import (
	"fmt"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Commit is small durable commits to a write-ahead log.
type Commit struct{}

func (Commit) Name() string { return "commit" }

func (Commit) Title() record.Said { return record.Say("load_commit") }

// Params are the parameters. The default is one thread: an operation is then exactly one write and
// one sync. With several threads more commits share a sync the slower it is, which hides a part of
// its cost.
func (Commit) Params() []Param {
	return []Param{
		{Name: "size", Default: "1KiB", Check: Size(64, 1<<20),
			Help: "bytes of one commit"},
		{Name: "threads", Default: "1", Check: Whole(1, 256),
			Help: "threads that commit to the same log"},
		OnOff("group", "on", "on: commits that wait while the log is being synced share the next sync; off: one sync each, one after the other"),
		{Name: "log", Default: "16MiB", Check: Size(1<<20, 4<<30),
			Help: "size of the log, which is written round and round"},
		Choice("blocks", "written",
			"written: the log is written in full beforehand, as InnoDB's redo log; reserved: its blocks are reserved, and a commit also changes metadata, as in etcd", "written", "reserved"),
	}
}

func (Commit) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	p := load.Commit{RecordBytes: int(r.Size("size")), LogBytes: r.Size("log"), Group: v["group"] == "on", Reserved: v["blocks"] == "reserved"}
	threads := r.Whole("threads")
	if r.Err != nil {
		return Stages{}, fmt.Errorf("commit: %w", r.Err)
	}
	if all := int64(p.RecordBytes) * int64(threads); all > p.LogBytes {
		return Stages{}, fmt.Errorf("commit: log: %s cannot hold one commit of %s from each of %d threads; want at least %d bytes",
			v["log"], v["size"], threads, all)
	}
	return Stages{
		Threads: threads,
		Load: func(at wire.Place) Task {
			here := p
			here.Dir = at.Volume
			return LoadTask(load.KindCommit, here)
		},
		Disk:    true,
		Bytes:   p.LogBytes,
		Metrics: ClosedLoop(),
	}, nil
}
