package importer

import (
	"slices"

	"github.com/tarelab/tare/internal/logs/clickhouse"
	"github.com/tarelab/tare/internal/logs/csv"
	"github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/hyperfine"
	"github.com/tarelab/tare/internal/logs/kubefio"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/logs/redis"
	"github.com/tarelab/tare/internal/logs/sysbench"
)

// readers are all tools whose output is read, in the order in which they are asked
// whether a file is theirs. Each declares itself in its folder.
var readers = []observed.Reader{sysbench.Reader, fio.Reader, clickhouse.Reader, pgbench.Reader, hyperfine.Reader, redis.Reader,
	kubefio.Dbench, kubefio.Kbench, kubefio.Kubestr, csv.Reader}

// known is how the output of each tool is told, those that are not read included.
var known = func() (out format.Tools) {
	for _, r := range slices.Concat(readers, unread) {
		out = append(out, r.Tool)
	}
	return out
}()

// Known is how the output of each tool is told.
func Known() format.Tools { return known }

// kindOf is what reads files of a kind; nil for none.
func kindOf(name format.Kind) *observed.Kind {
	for _, r := range readers {
		for i := range r.Kinds {
			if r.Kinds[i].Name == name {
				return &r.Kinds[i]
			}
		}
	}
	return nil
}

// Kinds are the names that Options.Kind can have.
func Kinds() (out []string) {
	for _, r := range readers {
		for _, k := range r.Kinds {
			out = append(out, string(k.Name))
		}
	}
	return out
}

// Versions are the spans of versions that are known, of the tools that have any.
func Versions() (out []string) {
	for _, r := range readers {
		if r.Versions != "" {
			out = append(out, r.Versions)
		}
	}
	return out
}
