package importer

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/logs/csv"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// group sorts runs by load, and makes a workload of every load that the baseline and another arm have.
// Different tools, jobs and commands are different loads. So are files of different names if all arms
// have the same names (bare/read.log, bare/write.log, pod/read.log, pod/write.log; a number at the end
// of a name does not count), and runs of one arm with different settings.
func (r *Result) group(all []*observed.Run, o Options) {
	classify(all, queriesEach, func(x *observed.Run) format.Num { return x.Queries })
	classify(all, writesEach, func(x *observed.Run) format.Num { return x.Writes })
	var names []string
	loads := map[string][]*observed.Run{}
	for _, x := range all {
		name := x.Tool
		if x.Sub != "" {
			name += " " + x.Sub
		}
		if loads[name] == nil {
			names = append(names, name)
		}
		loads[name] = append(loads[name], x)
	}
	for _, name := range names {
		for _, part := range inOrder(split(name, loads[name])) {
			r.workload(part.name, part.runs, o)
		}
	}
	slices.SortStableFunc(r.Runs, func(a, b record.Observed) int { return strings.Compare(a.Workload, b.Workload) })
}

// apart is the factor between two ratios from which on they are of different loads. Retries change a
// ratio by less.
const apart = 1.25

// classify makes a setting of a ratio. Runs whose ratios differ by less than apart get the same value.
func classify(all []*observed.Run, name string, of func(*observed.Run) format.Num) {
	var known []*observed.Run
	for _, x := range all {
		if of(x).Known() {
			known = append(known, x)
		}
	}
	value := func(x *observed.Run) float64 { v, _ := of(x).Get(); return v }
	slices.SortStableFunc(known, func(a, b *observed.Run) int { return cmp.Compare(value(a), value(b)) })
	first, label := 0.0, ""
	for i, x := range known {
		if v := value(x); i == 0 || v > apart*first || first == 0 && v > 0 {
			first, label = v, strconv.FormatFloat(v, 'g', 2, 64)
		}
		x.MakesLoad(name, label)
	}
}

type load struct {
	name string
	runs []*observed.Run
}

// split splits the runs of a tool into loads: by the names of files if all arms have the same names, and
// by settings.
func split(name string, runs []*observed.Run) []load {
	stems := map[string]map[string]bool{} // by arm
	for _, x := range runs {
		add(stems, x.Arm, stem(x.File))
	}
	if !alike(stems) {
		return bySettings(load{name, runs})
	}
	var out []load
	for _, l := range splitBy(load{name, runs}, func(x *observed.Run) string { return stem(x.File) }) {
		out = append(out, bySettings(l)...)
	}
	return out
}

// numberIn matches a number in the name of a load.
var numberIn = lazily(`\d+(?:\.\d+)?`)

// inOrder puts loads whose names differ only in numbers into the order of these numbers. Other loads keep their places.
func inOrder(loads []load) []load {
	out := slices.Clone(loads)
	places := map[string][]int{}
	for i, l := range loads {
		stripped := numberIn().ReplaceAllString(l.name, "0")
		places[stripped] = append(places[stripped], i)
	}
	for _, list := range places {
		var some []load
		for _, i := range list {
			some = append(some, loads[i])
		}
		slices.SortStableFunc(some, func(a, b load) int {
			return slices.Compare(numbersIn(a.name), numbersIn(b.name))
		})
		for k, i := range list {
			out[i] = some[k]
		}
	}
	return out
}

func numbersIn(name string) (out []float64) {
	for _, s := range numberIn().FindAllString(name, -1) {
		x, _ := strconv.ParseFloat(s, 64) // it is a number
		out = append(out, x)
	}
	return out
}

// bySettings splits a load by its settings if an arm has runs with different settings.
func bySettings(l load) []load {
	settings := map[string]map[string]bool{}
	same := true
	for _, x := range l.runs {
		add(settings, x.Arm, loadSettings(x, nil))
		same = same && len(settings[x.Arm]) == 1
	}
	if same {
		return []load{l}
	}
	differing := varying(l.runs)
	return splitBy(l, func(x *observed.Run) string { return loadSettings(x, differing) })
}

// splitBy splits a load by a key, which becomes part of the name.
func splitBy(l load, key func(*observed.Run) string) []load {
	var out []load
	for _, x := range l.runs {
		name := strings.TrimSpace(l.name + " " + key(x))
		i := slices.IndexFunc(out, func(o load) bool { return o.name == name })
		if i < 0 {
			i = len(out)
			out = append(out, load{name: name})
		}
		out[i].runs = append(out[i].runs, x)
	}
	return out
}

// loadSettings joins the settings of a load that have one of the names, or all if names is nil:
// "bs 4 KiB, iodepth 16". Runs whose settings differ are different loads.
func loadSettings(x *observed.Run, names []string) string {
	var s []string
	for _, l := range x.Load {
		if names == nil || slices.Contains(names, l.Name) {
			s = append(s, l.Name+" "+l.Got)
		}
	}
	return strings.Join(s, ", ")
}

// varying lists the settings that differ between runs.
func varying(runs []*observed.Run) []string {
	values := map[string]map[string]bool{}
	for _, x := range runs {
		for _, l := range x.Load {
			add(values, l.Name, l.Got)
		}
	}
	var out []string
	for name, v := range values {
		if len(v) > 1 {
			out = append(out, name)
		}
	}
	return out
}

// add adds a value to the set of a key.
func add(sets map[string]map[string]bool, key, value string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][value] = true
}

// alike reports whether there are several arms, and all have the same values, at least two.
func alike(sets map[string]map[string]bool) bool {
	if len(sets) < 2 {
		return false
	}
	var first map[string]bool
	for _, s := range sets {
		if first == nil {
			first = s
		}
		if len(s) < 2 || len(s) != len(first) {
			return false
		}
		for k := range s {
			if !first[k] {
				return false
			}
		}
	}
	return true
}

// stem returns the name of a file without directory, endings and a number before them: read.1.log and
// read-2.log.gz are both "read".
func stem(path string) string {
	s := filepath.Base(path)
	for _, end := range []string{".gz", ".bz2", ".log", ".txt", ".json", ".csv", ".out"} {
		s = strings.TrimSuffix(s, end)
	}
	if t := strings.TrimRight(strings.TrimRight(s, "0123456789"), "-._ "); t != "" {
		return t
	}
	return s
}

// workload makes a workload of the runs of one load, or leaves it out if there is nothing to compare.
func (r *Result) workload(name string, runs []*observed.Run, o Options) {
	w := record.Workload{Name: name, Kind: runs[0].Tool, Baseline: o.Baseline}
	counts := map[string]int{}
	for _, x := range runs {
		x.Workload, x.Number = name, counts[x.Arm]
		counts[x.Arm]++
	}
	if counts[o.Baseline] == 0 || len(counts) < 2 && !o.alone() {
		reason := noRunIn(o.Baseline)
		if counts[o.Baseline] > 0 {
			reason = noOtherRun()
		}
		for arm := range counts {
			r.Left = append(r.Left, record.Left{Workload: name, Arm: arm, Reason: reason, Remedy: sameLoad})
		}
		return
	}
	for _, a := range o.Arms {
		if counts[a.Name] > 0 && !slices.ContainsFunc(w.Arms, func(b record.Arm) bool { return b.Name == a.Name }) {
			w.Arms = append(w.Arms, record.Arm{Name: a.Name, Environment: "imported", Title: record.Say("count_runs", "runs", counts[a.Name])})
		}
	}
	for _, m := range metricsOf(runs) {
		w.Metrics = append(w.Metrics, m.Name)
		if _, ok := metric.Find(nil, m.Name); !ok {
			w.Values = append(w.Values, m.Record())
		}
	}
	w.Primary = w.Metrics[0]
	r.Workloads = append(r.Workloads, w)
	for _, x := range runs {
		r.Runs = append(r.Runs, x.Observed)
	}
}

// order has the main metrics first; others follow.
var order = []metric.Metric{metric.Throughput, metric.Time, metric.IOPS.Of("read"), metric.IOPS.Of("write"),
	metric.P50, metric.Quantile(0.9), metric.P95, metric.P99, metric.Quantile(0.999), metric.LatencyMean}

// metricsOf lists the metrics that any of the runs has, the primary one first.
func metricsOf(runs []*observed.Run) []metric.Metric {
	var out []metric.Metric
	for _, x := range runs {
		for _, m := range x.Metrics {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	rank := func(m metric.Metric) int {
		if i := slices.Index(order, m); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(out, func(a, b metric.Metric) int { return rank(a) - rank(b) })
	return out
}

// warnUncompared says for each file how many of its runs are in no comparison, and which.
func (r *Result) warnUncompared(all []*observed.Run) {
	var files []string
	total, left := map[string]int{}, map[string][]*observed.Run{}
	for _, x := range all {
		if total[x.File]++; total[x.File] == 1 {
			files = append(files, x.File)
		}
		if !slices.ContainsFunc(r.Workloads, func(w record.Workload) bool { return w.Name == x.Workload }) {
			left[x.File] = append(left[x.File], x)
		}
	}
	for _, file := range files {
		list := left[file]
		if len(list) == 0 {
			continue
		}
		var names []string
		for _, x := range list {
			if name := x.Arm + ": " + x.Workload; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > mostNamed {
			names = append(names[:mostNamed], "...")
		}
		text := runsUncompared(len(list), total[file], names)
		if list[0].Tool == csv.ToolName {
			text = rowsUncompared(len(list), total[file], names)
		}
		r.warn("", file, format.Warning{Text: text, Remedy: sameLoad})
	}
}

// mostNamed bounds the loads that a warning names.
const mostNamed = 4
