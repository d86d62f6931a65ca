package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/observed"
)

var (
	numbered = regexp.MustCompile(`^(.+)\.\d+$`)
	// pgbench -j writes PREFIX.PID for the first thread and PREFIX.PID.N for the others.
	threadLog = regexp.MustCompile(`^(.+\.\d+)\.\d{1,3}$`)
	// fio writes NAME_bw.N.log for job N.
	jobLog = regexp.MustCompile(`^(.+_(?:bw|iops|[sc]?lat))\.\d+\.log$`)
)

// wholeOf names the run that a file is a part of, for tools of which every thread
// or job writes its own; empty for other files.
func wholeOf(kind format.Kind, path string, files []string) string {
	path = strings.TrimSuffix(path, ".gz")
	switch kind {
	case format.FioLog, format.FioLog2, format.FioLog3:
		if m := jobLog.FindStringSubmatch(path); m != nil {
			return m[1]
		}
	case format.PgBenchLog, format.PgBenchAgg:
		name := func(f string) string { return strings.TrimSuffix(f, ".gz") }
		further := func(f string) bool { m := numbered.FindStringSubmatch(name(f)); return m != nil && m[1] == path }
		if slices.ContainsFunc(files, further) {
			return path
		}
		if m := numbered.FindStringSubmatch(path); m != nil {
			if slices.ContainsFunc(files, func(f string) bool { return name(f) == m[1] }) {
				return m[1]
			}
		}
		if m := threadLog.FindStringSubmatch(path); m != nil {
			return m[1]
		}
	}
	return ""
}

// join makes one run of the files that are parts of one, and says so.
func (r *Result) join(arm string, runs []*observed.Run) []*observed.Run {
	var out []*observed.Run
	parts := map[string][]*observed.Run{}
	key := func(x *observed.Run) string { return x.Whole + "\n" + x.Sub + "\n" + only(x, nil) }
	for _, x := range runs {
		if x.Whole != "" {
			parts[key(x)] = append(parts[key(x)], x)
		}
	}
	for _, x := range runs {
		list := parts[key(x)]
		switch {
		case x.Whole == "" || len(list) == 1:
			out = append(out, x)
		case x == list[0]:
			out = append(out, observed.Join(list))
			r.warn(arm, x.File, format.Warning{
				Text: fmt.Sprintf("this and %d more files are of the threads or jobs of one run: they were added up", len(list)-1)})
		}
	}
	return out
}
