package compare

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/record"
)

// differenceList collects differences. The same difference in several places is one entry.
type differenceList []record.Difference

// add adds a difference, unless before and after are equal.
func (l *differenceList) add(w record.Weight, what record.Said, before, after string, where ...string) {
	if before == after {
		return
	}
	for i, d := range *l {
		if d.What == what && d.Before == before && d.After == after && d.Weight == w && len(where) > 0 {
			(*l)[i].Where = append(d.Where, where...)
			return
		}
	}
	*l = append(*l, record.Difference{What: what, Where: where, Before: before, After: after, Weight: w})
}

// differences returns the differences between two results by weight: first those that make them two
// experiments, then those that may cause a change, then those without influence.
func differences(before, after *record.Result) []record.Difference {
	l := differenceList{}
	l.compareWorkloads(before.Plan.Workloads, after.Plan.Workloads)
	l.compareSource(before.Plan.Source, after.Plan.Source)
	l.compareManifest(before.Manifest, after.Manifest)
	l.compareSettings(before, after)
	l.add(record.WeightSetup, record.Property(experimentName), before.Plan.Experiment, after.Plan.Experiment)
	l.add(record.WeightNone, record.Property("margin"), ratio(before.Plan.Margin), ratio(after.Plan.Margin))
	l.add(record.WeightNone, record.Property("precision"), ratio(before.Plan.Precision), ratio(after.Plan.Precision))
	l.add(record.WeightNone, record.Property("budget"), seconds(before.Plan.Budget), seconds(after.Plan.Budget))
	l.add(record.WeightNone, record.Property("seed"), strconv.FormatUint(before.Plan.Seed, 10), strconv.FormatUint(after.Plan.Seed, 10))
	order := []record.Weight{record.WeightExperiment, record.WeightSetup, record.WeightNone}
	slices.SortStableFunc(l, func(a, b record.Difference) int {
		return cmp.Compare(slices.Index(order, a.Weight), slices.Index(order, b.Weight))
	})
	return l
}

func ratio(x float64) string   { return strconv.FormatFloat(100*x, 'g', 6, 64) + " %" }
func seconds(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) + " s" }

// compareWorkloads compares workloads and arms of the same name. A workload or arm that only one
// result has is a difference of setup, not of experiment: a host may be unable to run an arm.
func (l *differenceList) compareWorkloads(before, after []record.Workload) {
	names := map[string]bool{}
	for _, a := range before {
		names[a.Name] = true
		i := slices.IndexFunc(after, func(b record.Workload) bool { return b.Name == a.Name })
		if i < 0 {
			l.add(record.WeightSetup, record.Property("workload"), a.Name, "")
			continue
		}
		l.compareWorkload(a, after[i])
	}
	for _, b := range after {
		if !names[b.Name] {
			l.add(record.WeightSetup, record.Property("workload"), "", b.Name)
		}
	}
}

func (l *differenceList) compareWorkload(a, b record.Workload) {
	l.add(record.WeightExperiment, record.Property("kind"), a.Kind, b.Kind, a.Name)
	l.add(record.WeightExperiment, record.Property("baseline"), a.Baseline, b.Baseline, a.Name)
	if before, after, differ := baselinesRunAs(a, b); differ {
		l.add(record.WeightSetup, record.Property(kindOfBaseline), runsAs(before), runsAs(after), a.Name)
	}
	l.add(record.WeightExperiment, record.Property(primaryMetric), a.Primary, b.Primary, a.Name)
	l.compareValues(record.WeightExperiment, parameter, a.Params, b.Params, a.Name)
	neighbours := func(w record.Workload) map[string]string {
		m := map[string]string{}
		for _, n := range w.Neighbours {
			m[n.Name] = n.Kind + inLine(n.Params) + fmt.Sprintf(" memory=%d pids=%d", n.Memory, n.Pids)
		}
		return m
	}
	l.compareValues(record.WeightExperiment, neighbour, neighbours(a), neighbours(b), a.Name)
	for _, x := range a.Arms {
		i := slices.IndexFunc(b.Arms, func(y record.Arm) bool { return y.Name == x.Name })
		if i < 0 {
			l.add(record.WeightSetup, record.Property("arm"), x.Name, "", a.Name)
			continue
		}
		y, where := b.Arms[i], a.Name+"/"+x.Name
		l.add(record.WeightExperiment, record.Property("neighbour"), x.Neighbour, y.Neighbour, where)
		l.add(record.WeightExperiment, record.Property("isolation"), strings.Join(x.Isolation, ", "), strings.Join(y.Isolation, ", "), where)
		other := y.Chosen()
		for i, chosen := range x.Chosen() {
			l.add(record.WeightExperiment, record.Property(chosen.Name), chosen.Got, other[i].Got, where)
		}
		l.compareValues(record.WeightExperiment, asked, x.Set, y.Set, where)
	}
	for _, y := range b.Arms {
		if !slices.ContainsFunc(a.Arms, func(x record.Arm) bool { return x.Name == y.Name }) {
			l.add(record.WeightSetup, record.Property("arm"), "", y.Name, a.Name)
		}
	}
}

// baselinesRunAs returns Arm.RunsAs of the baselines of one workload, and whether they differ. A baseline
// in a container or pod competes by its limits, which are compared elsewhere.
func baselinesRunAs(before, after record.Workload) (a, b string, differ bool) {
	own := func(w record.Workload) (string, bool) {
		i := slices.IndexFunc(w.Arms, func(x record.Arm) bool { return x.Name == w.Baseline })
		if i < 0 {
			return "", false
		}
		x := w.Arms[i]
		return x.RunsAs, x.RunsAs != "" || x.Environment == "host" || x.Environment == "chroot"
	}
	a, ok := own(before)
	b, too := own(after)
	return a, b, ok && too && a != b
}

// inLine formats parameters in one line.
func inLine(m map[string]string) string {
	var s strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s.WriteString(" " + k + "=" + m[k])
	}
	return s.String()
}

// compareValues compares two sets of values by name.
func (l *differenceList) compareValues(w record.Weight, what func(name string) record.Said, before, after map[string]string, where ...string) {
	for _, k := range unionOfKeys(before, after) {
		l.add(w, what(k), before[k], after[k], where...)
	}
}

func unionOfKeys[V any](a, b map[string]V) []string {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// sourceKeys are keys of an experiment file that apply to all workloads, with their weight. The plan
// does not have them, so they are read from the file.
var sourceKeys = map[string]record.Weight{
	"volume": record.WeightExperiment, "scratch": record.WeightSetup, "generations": record.WeightNone,
	"window": record.WeightSetup, "discard": record.WeightSetup,
}

// compareSource compares the sourceKeys of two experiment files.
func (l *differenceList) compareSource(before, after string) {
	read := func(text string) map[string]any {
		m := map[string]any{}
		_ = yaml.Unmarshal([]byte(text), &m) // imported results have no file
		return m
	}
	a, b := read(before), read(after)
	for _, k := range slices.Sorted(maps.Keys(sourceKeys)) {
		x, inA := a[k]
		y, inB := b[k]
		if inA && inB {
			l.add(sourceKeys[k], record.Property(k), fmt.Sprint(x), fmt.Sprint(y))
		}
	}
}

// compareManifest compares the hosts, the versions and the users.
func (l *differenceList) compareManifest(a, b record.Manifest) {
	l.add(record.WeightSetup, record.Property("tare"), a.Tare, b.Tare)
	l.add(record.WeightNone, statisticsVersion, statistics(a), statistics(b))
	for _, d := range a.Host.Differences(b.Host) {
		before, after := d.Before, d.After
		if d.Unit == "B" {
			before, after = mebibytes(before), mebibytes(after)
		}
		l.add(record.WeightSetup, d.Name, before, after)
	}
	l.compareValues(record.WeightSetup, version, numbers(a.Versions), numbers(b.Versions))
	l.add(record.WeightSetup, record.Property("user"), a.User, b.User)
}

// numbers are versions without the name of the program that printed them: "1.8.1" of "crun version 1.8.1".
func numbers(versions map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range versions {
		rest := strings.TrimLeft(strings.TrimPrefix(text, name), " ,-")
		out[name] = cmp.Or(strings.TrimPrefix(rest, "version "), text)
	}
	return out
}

// statistics is the version of the rules by which the tare of a result judged; manifests before version 2
// do not name it.
func statistics(m record.Manifest) string { return strconv.Itoa(max(m.Statistics, 1)) }

// mebibytes rounds a number of bytes: the memory of a host differs by some hundred KiB from
// boot to boot.
func mebibytes(bytes string) string {
	b, err := strconv.ParseUint(bytes, 10, 64)
	if err != nil {
		return bytes
	}
	return strconv.FormatUint(b>>20, 10) + " MiB"
}

// compareSettings compares the settings that were read back from the kernel and the servers.
func (l *differenceList) compareSettings(before, after *record.Result) {
	a, b := before.Manifest.Settings, after.Manifest.Settings
	for _, where := range unionOfKeys(a, b) {
		x, inA := a[where]
		y, inB := b[where]
		if inA && inB {
			l.compareValues(record.WeightSetup, setting, readBack(before, x), readBack(after, y), where)
		}
	}
}

// Numbers that the kernel assigns anew each time.
var (
	loopDevice = regexp.MustCompile(`/dev/loop\d+`)
	port       = regexp.MustCompile(`:\d+\b`)
	autogroup  = regexp.MustCompile(`^\d+, `)
)

// measured reports whether a setting is a measurement, which varies from run to run: the times and
// writes of the trial syncs of a volume. durability.because is the conclusion from them.
func measured(name string) bool {
	detail, found := strings.CutPrefix(name, "durability.")
	return found && detail != "because"
}

// readBack returns settings by name. It joins several values of one name, and replaces the parts
// that vary from run to run: the run's id, loop devices and ports.
func readBack(r *record.Result, settings []record.Setting) map[string]string {
	id := ""
	for _, l := range r.Lines {
		if l.Run != nil {
			id = l.Run.ID
			break
		}
	}
	m := map[string]string{}
	for _, s := range settings {
		if measured(s.Name) {
			continue
		}
		got := s.Got
		if id != "" {
			got = strings.ReplaceAll(got, id, "RUN")
		}
		got = loopDevice.ReplaceAllString(got, "/dev/loop")
		if strings.HasPrefix(s.Name, "nat.") || strings.HasPrefix(s.Name, "network.") {
			got = port.ReplaceAllString(got, ":PORT")
		}
		if strings.HasSuffix(s.Name, "autogroup") {
			got = autogroup.ReplaceAllString(got, "")
		}
		if old, ok := m[s.Name]; ok && old != got {
			got = old + " | " + got
		}
		m[s.Name] = got
	}
	return m
}
