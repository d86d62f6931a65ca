package record

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var began = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func runLine() Line { return Line{Time: began, Run: &Run{Schema: RecordSchema, ID: "r1", Seed: 3}} }

func blockLine(n int) Line {
	w := Window{Arm: "host", Seconds: 0.5, Ops: uint64(100 + n), First: 50, FirstSeconds: 0.25,
		Latency: histogram([]int64{int64(n), 1000, 2000, 1 << 20}),
		Probes:  map[string]Value{"cpu.used": Number(0.5), "cpu.throttled": Missing(InProse("no quota"))}}
	return Line{Time: began.Add(time.Duration(n) * time.Second), Block: &Block{Workload: "oltp", Number: n, Windows: []Window{w}}}
}

// write makes a result directory with these lines and returns it and the path
// of its record.
func write(t testing.TB, lines ...Line) (dir, path string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "result")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteJSON(dir, PlanFile, Plan{Schema: PlanSchema, Seed: 3}),
		WriteJSON(dir, ManifestFile, Manifest{Schema: ManifestSchema, Tare: "test"})); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := w.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, RecordFile)
}

var compare = cmp.AllowUnexported(Value{})

func TestARecordRoundTrips(t *testing.T) {
	lines := []Line{runLine(), blockLine(0), blockLine(1), {Time: began, Warning: &Warning{Text: InProse("loud"), Remedy: InProse("quiet")}},
		{Time: began, End: &End{Reason: "budget"}}}
	dir, _ := write(t, lines...)
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines, r.Lines, compare); diff != "" || r.Torn {
		t.Errorf("torn %v: %s", r.Torn, diff)
	}
	if r.Plan.Seed != 3 || r.Manifest.Tare != "test" {
		t.Error("plan or manifest are not the ones written")
	}
}

// A kill can truncate a record at any byte: all complete lines are read, and Torn is set.
func TestATornRecordIsReadable(t *testing.T) {
	dir, path := write(t, runLine(), blockLine(0), blockLine(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Read(dir)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		lines := strings.Count(string(whole[:cut]), "\n")
		torn := cut > 0 && whole[cut-1] != '\n'
		if len(r.Lines) != lines || r.Torn != torn {
			t.Fatalf("cut at byte %d: %d lines, torn %v; want %d, %v", cut, len(r.Lines), r.Torn, lines, torn)
		}
	}
}

// A power cut may lose earlier disk blocks of the last write and keep later ones: the lines synced before are
// read, and no incomplete one.
func TestAPowerCutLosesOnlyWhatWasNotSynced(t *testing.T) {
	const synced, last, sector = 3, 40, 512
	rng := rand.New(rand.NewPCG(1, 2))
	torn := 0
	for range 100 {
		lines := []Line{runLine()}
		for n := range synced + last {
			lines = append(lines, blockLine(n))
		}
		dir, path := write(t, lines[:1+synced]...)
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Open(dir, before.Size())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Append(lines[1+synced:]...), w.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := before.Size(); at < int64(len(b)); at += sector - at%sector {
			if rng.IntN(10) == 0 {
				clear(b[at:min(at+sector-at%sector, int64(len(b)))])
			}
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Lines) < 1+synced || r.Torn != (len(r.Lines) < len(lines)) {
			t.Fatalf("%d lines, torn %v", len(r.Lines), r.Torn)
		}
		if diff := cmp.Diff(lines[:len(r.Lines)], r.Lines, compare); diff != "" {
			t.Fatal(diff)
		}
		scanned, err := Scan(dir)
		if err != nil || scanned.Torn != r.Torn || scanned.Whole != r.Whole {
			t.Fatalf("read to %d, torn %v; scanned to %d, torn %v: %v", r.Whole, r.Torn, scanned.Whole, scanned.Torn, err)
		}
		if r.Torn {
			torn++
		}
	}
	if torn < 50 {
		t.Errorf("only %d of 100 had a hole", torn)
	}
}

// A hole in synced lines is damage.
func TestAHoleFarFromTheEnd(t *testing.T) {
	line := blockLine(0)
	line.Warning = &Warning{Text: InProse(strings.Repeat("x", 1<<20))}
	dir, path := write(t, runLine(), blockLine(0), line, line, line, line)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.IndexByte(b, '\n')+20] = 0
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); !errors.Is(err, errHole) || !strings.Contains(err.Error(), RecordFile+":2:") {
		t.Errorf("%v", err)
	}
}

// A torn line that another process has appended to is damage, not a kill.
func TestDamageNamesTheLine(t *testing.T) {
	for name, damage := range map[string]string{
		"no JSON":           "garbage",
		"half a line":       `{"time":"2026-11-21T08:00:00Z","blo`,
		"wrong type":        `{"block":[]}`,
		"damaged histogram": `{"block":{"windows":[{"latency":"!"}]}}`,
		"value of words":    `{"block":{"windows":[{"probes":{"x":"many"}}]}}`,
		"a later schema":    `{"run":{"schema":"tare/record/v99"}}`,
	} {
		dir, path := write(t, runLine(), blockLine(0), blockLine(1))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(b), "\n")
		lines[1] = damage + "\n"
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), RecordFile+":2:") {
			t.Errorf("%s: %v, want %s:2 in it", name, err, RecordFile)
		}
	}
}

// Scan leaves the blocks in the file; Each calls with the same lines as after Read.
func TestScanLeavesBlocksInTheFile(t *testing.T) {
	lines := []Line{runLine()}
	for n := range 200 {
		lines = append(lines, blockLine(n))
	}
	lines = append(lines, Line{Time: began, Warning: &Warning{Text: InProse("loud")}}, Line{Time: began, End: &End{Reason: "budget"}})
	dir, path := write(t, lines...)
	r, err := Scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Line{lines[0], lines[201], lines[202]}, r.Lines, compare); diff != "" {
		t.Errorf("without blocks: %s", diff)
	}
	for range 2 {
		var got []Line
		if err := r.Each(func(l *Line) { got = append(got, *l) }); err != nil || cmp.Diff(lines, got, compare) != "" {
			t.Errorf("%v: %s", err, cmp.Diff(lines, got, compare))
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Whole != int64(len(whole)) {
		t.Errorf("%d of %d bytes are whole", r.Whole, len(whole))
	}
	damaged := strings.Replace(string(whole), `"ops":150`, `"ops":"many"`, 1)
	if err := os.WriteFile(path, []byte(damaged), 0o644); err != nil {
		t.Fatal(err)
	}
	n := 0
	if r, err = Scan(dir); err != nil {
		t.Fatal(err)
	}
	if err := r.Each(func(*Line) { n++ }); err == nil || !strings.Contains(err.Error(), RecordFile+":52:") || n != 51 {
		t.Errorf("after %d lines: %v, want %s:52 in it", n, err, RecordFile)
	}
	if err := os.WriteFile(path, whole[:len(whole)-200], 0o644); err != nil { // in the last block
		t.Fatal(err)
	}
	if r, err = Scan(dir); err != nil || !r.Torn {
		t.Errorf("a cut record: %v, %+v", err, r)
	}
}

func TestWhatIsNoResult(t *testing.T) {
	empty := t.TempDir()
	if _, err := Read(empty); !errors.Is(err, ErrNoRecord) || !strings.Contains(err.Error(), empty) {
		t.Errorf("an empty directory: %v", err)
	}
	dir, path := write(t, runLine())
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); !errors.Is(err, ErrNoRecord) {
		t.Errorf("a plan without a record: %v", err)
	}
	if err := WriteJSON(dir, PlanFile, Plan{Schema: "tare/plan/v99"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "tare/plan/v99") {
		t.Errorf("a plan of another schema: %v", err)
	}
}

// Plan and effects are read alone, too. A file of another program is none of tare's.
func TestReadAlone(t *testing.T) {
	dir, _ := write(t, runLine())
	for file, read := range map[string]func() (string, error){
		PlanFile:    func() (string, error) { p, err := ReadPlan(dir); return p.Experiment, err },
		EffectsFile: func() (string, error) { e, err := ReadEffects(dir); return e.Experiment, err },
	} {
		schema := map[string]string{PlanFile: PlanSchema, EffectsFile: EffectsSchema}[file]
		for text, want := range map[string]error{
			`{"schema": "` + schema + `", "experiment": "quick"}`: nil,
			`{"experiment": "quick"}`:                             ErrNoRecord,
			`{"schema": "other"}`:                                 ErrNoRecord,
			`{"schema": {"of": "another program"}}`:               ErrDamaged,
			`{"schema": "` + schema + `9"}`:                       ErrNewer,
			``:                                                    ErrDamaged,
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			name, err := read()
			if !errors.Is(err, want) || err == nil && name != "quick" {
				t.Errorf("%s %s: %q, %v", file, text, name, err)
			}
		}
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		if _, err := read(); !errors.Is(err, ErrNoRecord) {
			t.Errorf("no %s: %v", file, err)
		}
	}
}

func TestARecordIsNotOverwritten(t *testing.T) {
	dir, _ := write(t, runLine())
	if _, err := Create(dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second record in the same directory: %v", err)
	}
	if err := WriteJSON(dir, PlanFile, Plan{Schema: PlanSchema, Seed: 3, Budget: 4}); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil || r.Plan.Budget != 4 || len(r.Lines) != 1 {
		t.Errorf("after writing the plan again: %+v (%v)", r, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Errorf("the directory holds %v, want the record, the plan, the manifest and raw (%v)", files, err)
	}
}

// large is a record with realistic windows: nine arms, histograms of some hundred buckets, thirty probes.
func large(windows int) []Line {
	const arms, buckets, probes = 9, 300, 30
	lines := []Line{runLine()}
	for n := 0; windows > 0; n++ {
		block := &Block{Workload: "oltp", Number: n}
		for a := 0; a < arms && windows > 0; a, windows = a+1, windows-1 {
			w := Window{Arm: fmt.Sprintf("arm%d", a), Seconds: 0.25, Ops: 1000, Probes: map[string]Value{}}
			for i := range buckets {
				w.Latency.Index = append(w.Latency.Index, uint32(4000+3*i+n%3))
				w.Latency.Count = append(w.Latency.Count, uint64(1+(i*n)%200))
			}
			for i := range probes {
				w.Probes[fmt.Sprintf("probe.metric%d", i)] = Number(float64(i*n) / 7)
			}
			w.Probes["probe.metric0"] = Missing(InProse("not on this kernel"))
			block.Windows = append(block.Windows, w)
		}
		lines = append(lines, Line{Time: began, Block: block})
	}
	return lines
}

func BenchmarkRead10000Windows(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "result")
	w, err := Create(dir)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(w.Append(large(10_000)...), w.Close(), WriteJSON(dir, PlanFile, Plan{Schema: PlanSchema})); err != nil {
		b.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(dir, RecordFile))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "result"))
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	lines := large(9)[1:]
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(lines...); err != nil {
			b.Fatal(err)
		}
	}
}

// Other users can guess the name of a result directory: nothing is written into what they put there first.
func TestCreateInPlantedDirectory(t *testing.T) {
	target := t.TempDir()
	dir := filepath.Join(t.TempDir(), "result")
	if err := os.Symlink(target, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + "/"} {
		if _, err := Create(name); err == nil || !strings.Contains(err.Error(), "no directory") {
			t.Errorf("a link: %v", err)
		}
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("behind the link: %v %v", entries, err)
	}
}
