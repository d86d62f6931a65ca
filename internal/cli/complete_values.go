package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Files and directories, which the shell finds.
var (
	anyFile = completion{files: true}
	anyDir  = completion{dirs: true}
)

// flagValues complete the values of flags that have no list of words of their own.
func flagValues() map[string]func(*completer, string) completion {
	file := func(*completer, string) completion { return anyFile }
	dir := func(*completer, string) completion { return anyDir }
	return map[string]func(*completer, string) completion{
		"arms": (*completer).armsOf, "arm": (*completer).armsOfResult, "baseline": (*completer).armsOfImport,
		"workload": (*completer).workloads, "max-cost": (*completer).metrics, "set": (*completer).settings,
		"volume": (*completer).volumes, "nodes": (*completer).nodes, "context": (*completer).contexts,
		"continue": (*completer).results, "output": dir, "scratch": dir,
		"kubeconfig": file, "like": file, "like-password": file, "statements": file, "dump": file,
		"server": func(*completer, string) completion {
			words := plainly(serverWords()...)
			words.files = true
			return words
		},
		"old": file, "new": file, "address": file,
	}
}

// argumentValues complete the arguments of commands, by path and name.
func argumentValues() map[string]func(*completer, string) completion {
	file := func(*completer, string) completion { return anyFile }
	return map[string]func(*completer, string) completion{
		"run preset|file": (*completer).experiments, "plan preset|file": (*completer).experiments,
		"advise preset|file": (*completer).advised,
		"report dir":         (*completer).results, "check dir": (*completer).results,
		"compare old": (*completer).results, "compare new": (*completer).results,
		"list dir": func(*completer, string) completion { return anyDir }, "presets show name": (*completer).presets,
		"import arm=files": (*completer).logs, "image load file": file, "cache prune data set": (*completer).dataSets,
	}
}

// worded is a flag or argument with a list of words.
type worded interface{ words() []string }

func wordsOf(v *kong.Value) []string {
	if v.Target.CanAddr() {
		if w, ok := v.Target.Addr().Interface().(worded); ok {
			return w.words()
		}
	}
	return nil
}

// ofFlag completes the value of a flag.
func (k *completer) ofFlag(f *kong.Flag, word string) completion {
	if words := wordsOf(f.Value); words != nil {
		return plainly(words...).beginning(word)
	}
	if complete := flagValues()[f.Name]; complete != nil {
		return complete(k, word).beginning(word)
	}
	return completion{}
}

// ofArgument completes an argument of the command.
func (k *completer) ofArgument() completion {
	node := k.node
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	if k.helping || len(node.Positional) == 0 {
		return completion{}
	}
	at := node.Positional[min(len(k.args), len(node.Positional)-1)]
	if len(k.args) >= len(node.Positional) && !at.IsCumulative() {
		return completion{}
	}
	if words := wordsOf(at); words != nil {
		return plainly(words...).beginning(k.word)
	}
	if complete := argumentValues()[node.Path()+" "+at.Name]; complete != nil {
		return complete(k, k.word).beginning(k.word)
	}
	return completion{}
}

// listOf completes the last name of a list with commas.
func listOf(word string, names completion) completion {
	at := strings.LastIndexByte(word, ',') + 1
	has := strings.Split(word[:at], ",")
	names.values = slices.DeleteFunc(names.values, func(c candidate) bool { return slices.Contains(has, c.value) })
	return names.behind(word[:at])
}

func (k *completer) presets(string) (a completion) {
	for _, name := range experiment.Presets() {
		e, err := parsePreset(name)
		if err == nil {
			a.values = append(a.values, candidate{name, e.Title})
		}
	}
	return a
}

func (k *completer) experiments(word string) completion {
	a := k.presets(word)
	a.files = true
	return a
}

// advised completes the argument of tare advise: an experiment or a result.
func (k *completer) advised(word string) completion {
	a := k.experiments(word)
	a.values = append(a.values, k.results(word).values...) // the files have all directories
	return a
}

// results are the result directories in the directory that the word names, else here.
func (k *completer) results(word string) completion {
	var a completion
	at, _ := filepath.Split(word)
	for _, dir := range resultsIn(cmp.Or(at, ".")) {
		if at != "" && !strings.HasPrefix(dir, at) { // filepath.Join has cleaned it
			dir = at + strings.TrimPrefix(dir, filepath.Clean(at)+"/")
		}
		if !strings.HasPrefix(dir, word) {
			continue
		}
		if p, err := record.ReadPlan(dir); err == nil {
			a.values = append(a.values, candidate{dir, p.Experiment + ", " + startOf(dir).Local().Format(time.DateTime)})
		} else if isNodes(dir) {
			a.values = append(a.values, candidate{value: dir})
		}
	}
	a.dirs = len(a.values) == 0 // others are deeper
	return a
}

// chosen is the experiment of the line; nil: it cannot be read.
func (k *completer) chosen() *experiment.Experiment {
	f := experimentFlags{Command: k.value("command")}
	if len(k.args) > 0 && f.Command == "" {
		f.Experiment = k.args[0]
	}
	if info, err := os.Stat(f.Experiment); f.Experiment == "-" || err == nil && !info.Mode().IsRegular() {
		return nil // reading it may block
	}
	e, err := f.parse(catalog.Words())
	if err != nil {
		return nil
	}
	return e
}

// armsOf are the arms of the experiment of the line.
func (k *completer) armsOf(word string) (a completion) {
	e := k.chosen()
	if e == nil {
		return a
	}
	own := slices.Clone(e.Named)
	for _, w := range e.Workloads {
		own = append(own, w.Named...)
	}
	for _, arm := range own {
		if c := (candidate{arm.Name, arm.Environment}); !slices.Contains(a.values, c) {
			a.values = append(a.values, c)
		}
	}
	if len(own) == 0 {
		for _, r := range catalog.Rungs(nil) {
			a.values = append(a.values, candidate{r.Name(), said.English(r.Title())})
		}
	}
	return listOf(word, a)
}

// armsOfResult are the arms of the result of the line.
func (k *completer) armsOfResult(word string) (a completion) {
	if len(k.args) == 0 {
		return a
	}
	p, err := record.ReadPlan(resultOf(k.args[0]))
	if err != nil {
		return a
	}
	for _, w := range p.Workloads {
		for _, arm := range w.Arms {
			if c := (candidate{arm.Name, said.English(arm.Title)}); !slices.Contains(a.values, c) {
				a.values = append(a.values, c)
			}
		}
	}
	return listOf(word, a)
}

// armsOfImport are the arms that the line of tare import names.
func (k *completer) armsOfImport(string) (a completion) {
	for _, w := range k.args {
		if name, _, ok := strings.Cut(w, "="); ok {
			a.values = append(a.values, candidate{value: name})
		}
	}
	return a
}

// workloads are those of the experiment or of the result of the line.
func (k *completer) workloads(word string) (a completion) {
	if k.node.Name == "check" {
		if len(k.args) == 0 {
			return a
		}
		p, _ := record.ReadPlan(resultOf(k.args[0])) // an unreadable one has none
		for _, w := range p.Workloads {
			a.values = append(a.values, candidate{w.Name, said.English(w.Title)})
		}
		return listOf(word, a)
	}
	if e := k.chosen(); e != nil {
		for _, w := range e.Workloads {
			title := w.Kind
			if kind, ok := catalog.Workload(w.Kind); ok {
				title = said.English(kind.Title())
			}
			a.values = append(a.values, candidate{w.Name, title})
		}
	}
	return listOf(word, a)
}

// metrics are those that a limit may be about.
func (k *completer) metrics(word string) completion {
	a := completion{nospace: true}
	for _, m := range metric.All() {
		a.values = append(a.values, candidate{m.Name + "=", m.Label})
	}
	return listOf(word, a)
}

// settings are the parameters of the experiment of the line, as LOAD.PARAMETER=.
func (k *completer) settings(string) completion {
	a := completion{nospace: true}
	words := catalog.Words()
	for _, name := range []string{"generations", "window", "discard", "unequal", "until"} {
		a.values = append(a.values, candidate{value: name + "="})
	}
	if e := k.chosen(); e != nil {
		for _, w := range e.Workloads {
			for _, p := range words.Kinds[w.Kind] {
				a.values = append(a.values, candidate{w.Name + "." + p.Name + "=", p.Help})
			}
		}
	}
	return a
}

// volumes are the words for volumes; the StorageClasses of the cluster where the word begins as one.
func (k *completer) volumes(word string) (a completion) {
	if claim := volume.Claim + ":"; strings.HasPrefix(word, claim) {
		return plainly(k.classes()...).behind(claim)
	}
	for _, w := range volume.Words() {
		name, rest, _ := strings.Cut(w, ":")
		if rest != "" && strings.ToLower(rest) != rest { // the rest stands for a name
			w = name + ":"
		}
		a.values = append(a.values, candidate{value: w})
		a.nospace = a.nospace || strings.HasPrefix(w, word) && strings.HasSuffix(w, ":")
	}
	return a
}

// logs complete the files of an arm.
func (k *completer) logs(string) completion { return anyFile }

func (k *completer) dataSets(string) (a completion) {
	store, err := dataset.Default()
	if err != nil {
		return a
	}
	all, err := store.List()
	if err != nil {
		return a
	}
	for _, e := range all {
		a.values = append(a.values, candidate{e.Key, describe(e, messages.Catalog{})})
	}
	return a
}
