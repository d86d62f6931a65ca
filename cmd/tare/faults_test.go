//go:build faults

// The library of the file system opens files before main, and takes the numbers of
// descriptors that a container of an engine is handed over: this is no part of the
// binary of the other tests.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/faultfs"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// areas are the places where a run keeps files, each with the run that is tried while that place is
// on a file system with faults.
var areas = map[string][]string{
	"journal": commits,
	"record":  commits,
	"scratch": commits,
	"cache":   {"redis-layers", "--workload=get", "--set=get.keys=1000", "--arms=host,container", "--budget=2s"},
}

var commits = []string{"quick", "--workload=commit", "--set=commit.log=1MiB", "--arms=host,container", "--budget=2s"}

const (
	faultBound = 2 * time.Minute // for a run; it is no measure of speed
	faultLeft  = time.Minute     // for what the guard and the kernel take back
)

// onFaults is one area on a file system with faults, and the others on an ordinary one.
type onFaults struct {
	t    *testing.T
	area string
	fs   *faultfs.FS
	base string
}

// dir is the directory of an area as tare sees it.
func (o *onFaults) dir(area string) string {
	if area == o.area {
		return filepath.Join(o.fs.Dir, area)
	}
	return filepath.Join(o.base, area)
}

// behind is the directory of an area without faults.
func (o *onFaults) behind(area string) string {
	if area == o.area {
		return filepath.Join(o.fs.Backing, area)
	}
	return o.dir(area)
}

func (o *onFaults) tool(args ...string) (code int, said string) {
	o.t.Helper()
	ctx, stop := context.WithTimeout(o.t.Context(), faultBound)
	defer stop()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+o.dir("journal"), "XDG_CACHE_HOME="+o.dir("cache"), hostlock.DirEnv+"="+o.base)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		o.t.Errorf("tare %s did not end within %v", args[0], faultBound)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		o.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// fresh begins with empty directories.
func (o *onFaults) fresh() {
	o.t.Helper()
	o.fs.Arm(faultfs.Fault{}, nil)
	for area := range areas {
		must(o.t, os.RemoveAll(o.behind(area)))
		must(o.t, os.MkdirAll(o.behind(area), 0o755))
	}
}

// run is one run with a fault, and everything that must hold afterwards.
func (o *onFaults) run(fault faultfs.Fault) {
	o.t.Helper()
	o.fresh()
	dirs := []string{o.behind("scratch"), o.behind("cache")}
	before := lookAtHost(o.t, dirs[:1]...)
	o.fs.KeepSynced(record.RecordFile)
	o.fs.Arm(fault, nil)
	code, said := o.tool(append(append([]string{"run"}, areas[o.area]...),
		"--force", "--no-progress", "--scratch="+o.dir("scratch"), "-o", filepath.Join(o.dir("record"), "result"))...)
	o.fs.Disarm()
	hit := o.fs.Hit()
	o.t.Logf("%v: exit %d", hit[:min(len(hit), 1)], code)
	o.ended(code, said, fault, hit)
	o.recordHolds()
	if code, out := o.tool("cleanup"); code != 0 {
		o.t.Errorf("cleanup, without the fault: exit %d\n%s", code, out)
	}
	id := runID(filepath.Join(o.behind("record"), "result"))
	for _, l := range before.left(o.t, faultLeft, dirs[:1], id, o.base, o.fs.Dir) {
		o.t.Error(l)
	}
	journals, _ := filepath.Glob(filepath.Join(o.behind("journal"), "tare", "journal", "*"))
	parts, _ := filepath.Glob(filepath.Join(o.behind("cache"), "tare", "data", ".*.part-*"))
	for _, f := range append(journals, parts...) {
		o.t.Errorf("left: %s", f)
	}
	if o.t.Failed() {
		o.t.Logf("it said:\n%s", said)
	}
}

// ended: a run with a fault goes on, or ends with a message that names a file and the cause. It
// does not crash.
func (o *onFaults) ended(code int, said string, fault faultfs.Fault, hit []faultfs.Op) {
	o.t.Helper()
	for _, crash := range []string{"panic:", "fatal error:", "goroutine ", "SIGSEGV"} {
		if strings.Contains(said, crash) {
			o.t.Errorf("it crashed: %q", crash)
		}
	}
	if !slices.Contains([]int{exitOK, exitError, exitUnsupported}, code) {
		o.t.Errorf("ended with %d", code)
	}
	if len(hit) == 0 && code != exitOK && fault.Number == 0 {
		o.t.Errorf("without a fault it ended with %d:\n%s", code, said)
	}
	if code == exitOK {
		o.whole()
	}
	if len(hit) == 0 || code == exitOK {
		return
	}
	// A server names the cause in the words of its C library.
	if !strings.Contains(strings.ToLower(said), fault.Error.Error()) {
		o.t.Errorf("it does not name the cause %q", fault.Error)
	}
	// Arms are opened at the same time: the message may be about another file that failed since.
	// runc does not always name a file of its own directory; then tare names runc.
	named := func(op faultfs.Op) bool {
		ofRunc := strings.Contains(op.Path, "/runtime/") && strings.Contains(said, "/runc create")
		return ofRunc || strings.Contains(said, filepath.Base(op.Path))
	}
	if !strings.Contains(said, o.fs.Dir) && !slices.ContainsFunc(hit, named) {
		o.t.Errorf("it names none of %v", hit[:min(len(hit), 10)])
	}
}

// whole: the result of a run with exit code 0 has its last line, and its report. (That covers a
// write of several pages that fails in the middle.)
func (o *onFaults) whole() {
	o.t.Helper()
	dir := filepath.Join(o.behind("record"), "result")
	r, err := record.Read(dir)
	if err == nil && (len(r.Lines) == 0 || r.Lines[len(r.Lines)-1].End == nil) {
		err = errors.New("the record has no last line")
	}
	for _, name := range []string{record.ManifestFile, record.EffectsFile, "report.html"} {
		if _, serr := os.Stat(filepath.Join(dir, name)); serr != nil {
			err = errors.Join(err, serr)
		}
	}
	if err != nil {
		o.t.Errorf("it ended with 0: %v", err)
	}
}

const (
	exitOK          = 0
	exitError       = 1
	exitUnsupported = 5 // without the directory the host cannot do what an arm needs
)

// found lists faults after which something was wrong once. Each run of the test tries them.
var found = map[string][]faultfs.Fault{
	// tare reported a dead load as "look at the mounts of process N: no such file".
	"scratch": {{Kind: faultfs.Write, Number: 400, Error: syscall.ENOSPC, Lasting: true}},
	// tare reported the missing last line as a host that is not restored, with exit code 0. The
	// numbers are near that line.
	"record": {
		{Kind: faultfs.Write, Number: 8, Error: syscall.EIO}, {Kind: faultfs.Write, Number: 9, Error: syscall.EIO},
		{Kind: faultfs.Write, Number: 10, Error: syscall.EIO}, {Kind: faultfs.Write, Number: 11, Error: syscall.EIO},
	},
	// The temporary file of a journal stayed.
	"journal": {{Kind: faultfs.Resize, Number: 2, Error: syscall.EIO, Lasting: true}},
}

// recordHolds: the record has all that was synced of it, and can be read.
func (o *onFaults) recordHolds() {
	o.t.Helper()
	dir := filepath.Join(o.behind("record"), "result")
	if o.area == "record" {
		synced := o.fs.Synced(filepath.Join("record", "result", record.RecordFile))
		if now := read(filepath.Join(dir, record.RecordFile)); !strings.HasPrefix(now+"\n", string(synced)) {
			o.t.Errorf("of %d bytes that were synced the record does not have all:\n%s", len(synced), now)
		}
	}
	if runID(dir) == "" {
		return // it ended before the record had a line
	}
	if _, err := record.Read(dir); err != nil {
		o.t.Errorf("the record is not readable: %v", err)
	}
	if code, out := o.tool("report", dir); code != 0 {
		o.t.Errorf("report: exit %d\n%s", code, out)
	}
}

// TestFaults answers operations on files, one at a time by its number, with an error, wherever a
// run keeps files. TARETEST_FAULTS is how many faults of each area are tried, "all" for every
// number (of a load's own writes and syncs some only); TARETEST_AREA is one area; TARETEST_SEED
// repeats a sample.
func TestFaults(t *testing.T) {
	testneed.Long(t, "faults")
	testneed.Root(t)
	testneed.Tool(t, "redis-server")
	seed, err := strconv.ParseUint(setting("TARETEST_SEED", fmt.Sprint(rand.Uint64())), 10, 64)
	if err != nil {
		t.Fatalf("TARETEST_SEED: %v", err)
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for _, area := range []string{"journal", "record", "scratch", "cache"} {
		if only := os.Getenv("TARETEST_AREA"); only != "" && only != area {
			continue
		}
		t.Run(area, func(t *testing.T) {
			o := &onFaults{t: t, area: area, fs: faultfs.Mount(t), base: t.TempDir()}
			must(t, os.Chmod(o.base, 0o755))
			o.run(faultfs.Fault{})
			seen := o.fs.Seen()
			for i, f := range append(slices.Clone(found[area]), faultsOf(t, rng, seen)...) {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Log(f)
					trial := *o
					trial.t = t
					trial.run(f)
				})
			}
		})
	}
}

// A power cut must not take journal or record: the directories that name them are synced after they
// were made, up to the first directory that existed before.
func TestParentsAreSynced(t *testing.T) {
	testneed.Long(t, "faults")
	begin := map[string]func(dir string) (io.Closer, error){
		"journal": func(dir string) (io.Closer, error) { return journal.Open(dir, "parents") },
		"record":  func(dir string) (io.Closer, error) { return record.Create(dir) },
	}
	for area, begin := range begin {
		for _, dir := range []string{"new", "new/newer/newest"} {
			f := faultfs.Mount(t)
			begun, err := begin(filepath.Join(f.Dir, dir))
			must(t, err)
			seen := f.Seen()
			must(t, begun.Close())
			if named := unsynced(seen); len(named) > 0 {
				t.Errorf("%s in %s: no sync of what names %v", area, dir, named)
			}
			if !slices.ContainsFunc(seen, func(op faultfs.Op) bool { return op.Kind == faultfs.Mkdir }) {
				t.Errorf("%s in %s: no directory was made: %v", area, dir, seen)
			}
		}
	}
}

// unsynced returns the names that were made and not removed, and whose directory was not synced
// afterwards.
func unsynced(seen []faultfs.Op) (names []string) {
	in := func(path string) string { return filepath.Join("/", filepath.Dir(path)) }
	for i, op := range seen {
		if !slices.Contains([]faultfs.Kind{faultfs.Mkdir, faultfs.Create, faultfs.Link}, op.Kind) {
			continue
		}
		if !slices.ContainsFunc(seen[i:], func(o faultfs.Op) bool {
			return o.Kind == faultfs.Unlink && o.Path == op.Path || o.Kind == faultfs.Sync && filepath.Join("/", o.Path) == in(op.Path)
		}) {
			names = append(names, op.Path)
		}
	}
	return names
}

// faultsOf returns the faults to try after a run without faults had so many operations.
func faultsOf(t *testing.T, rng *rand.Rand, seen []faultfs.Op) (all []faultfs.Fault) {
	counts := map[faultfs.Kind]int{}
	for _, op := range seen {
		counts[op.Kind] = max(counts[op.Kind], op.Number)
	}
	t.Logf("counted %v", counts)
	for _, kind := range faultfs.Kinds() {
		for _, n := range numbers(rng, counts[kind]) {
			for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EINTR} {
				all = append(all, faultfs.Fault{Kind: kind, Number: n, Error: e})
				if e != syscall.EINTR {
					all = append(all, faultfs.Fault{Kind: kind, Number: n, Error: e, Lasting: true})
				}
			}
		}
	}
	most := setting("TARETEST_FAULTS", "3")
	if most == "all" {
		return all
	}
	n, err := strconv.Atoi(most)
	if err != nil {
		t.Fatalf("TARETEST_FAULTS: %v", err)
	}
	return sample(rng, all, n)
}

// numbers returns the numbers up to n; where a load writes thousands of times, some of them.
func numbers(rng *rand.Rand, n int) (all []int) {
	const most = 60
	for i := range n {
		if n <= most || i < most/2 || rng.IntN(n) < most/2 {
			all = append(all, i+1)
		}
	}
	return all
}

// sample returns n of the faults, equally many of each kind where there are so many.
func sample(rng *rand.Rand, all []faultfs.Fault, n int) (some []faultfs.Fault) {
	of := map[faultfs.Kind][]faultfs.Fault{}
	rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for _, f := range all {
		of[f.Kind] = append(of[f.Kind], f)
	}
	kinds := faultfs.Kinds()
	rng.Shuffle(len(kinds), func(i, k int) { kinds[i], kinds[k] = kinds[k], kinds[i] })
	for i := 0; len(some) < min(n, len(all)); i++ {
		kind := kinds[i%len(kinds)]
		if list := of[kind]; len(list) > 0 {
			some, of[kind] = append(some, list[0]), list[1:]
		}
	}
	return some
}
