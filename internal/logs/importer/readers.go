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

// readers lists the reader of each tool, in the order in which files are compared with them.
var readers = []observed.Reader{sysbench.Reader, fio.Reader, clickhouse.Reader, pgbench.Reader, hyperfine.Reader, redis.Reader,
	kubefio.Dbench, kubefio.Kbench, kubefio.Kubestr, csv.Reader}

// known describes the output of each tool, including tools without a reader.
var known = func() (out format.Tools) {
	for _, r := range slices.Concat(readers, unread) {
		out = append(out, r.Tool)
	}
	return out
}()

// Known describes the output of each tool, including tools without a reader.
func Known() format.Tools { return known }

// kindOf finds the reader of a kind of files; nil: none.
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

// Kinds lists the values of Options.Kind.
func Kinds() (out []string) {
	for _, r := range readers {
		for _, k := range r.Kinds {
			out = append(out, string(k.Name))
		}
	}
	return out
}

// Versions lists the known versions of each tool that has versions.
func Versions() (out []string) {
	for _, r := range readers {
		if r.Versions != "" {
			out = append(out, r.Versions)
		}
	}
	return out
}
