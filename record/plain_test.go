package record

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// alike decodes a line with plain and with encoding/json: if plain accepts it, both give the same.
func alike(t interface{ Fatalf(string, ...any) }, line []byte) (taken bool) {
	var got, want Line
	taken = newPlain().line(line, &got)
	if !taken {
		return false
	}
	if err := json.Unmarshal(line, &want); err != nil {
		t.Fatalf("the library refuses %q: %v", line, err)
	}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Fatalf("%q: %s", line, diff)
	}
	return true
}

func drawValues(rt *rapid.T, name string) map[string]Value {
	if rapid.Bool().Draw(rt, "no "+name) {
		return nil
	}
	return rapid.MapOfN(rapid.StringMatching(`[a-z._]{1,12}`), rapid.Custom(func(rt *rapid.T) Value {
		if rapid.Bool().Draw(rt, "missing") {
			return Missing(InProse(rapid.StringMatching(`[ -!#-%'-;=?-\[\]-~]{1,20}`).Draw(rt, "reason")))
		}
		return Number(rapid.Float64().Draw(rt, "number"))
	}), 1, 5).Draw(rt, name)
}

func drawWindow(rt *rapid.T) Window {
	w := Window{Arm: rapid.StringMatching(`[a-z-]{0,8}`).Draw(rt, "arm"), Start: rapid.Float64().Draw(rt, "start"),
		Seconds: rapid.Float64().Draw(rt, "seconds"), Ops: rapid.Uint64().Draw(rt, "ops"), First: rapid.Uint64().Draw(rt, "first"),
		FirstSeconds: rapid.Float64Min(0).Draw(rt, "first seconds"), Errors: rapid.Uint64().Draw(rt, "errors"),
		Cut: rapid.Uint64().Draw(rt, "cut"), Late: rapid.Uint64().Draw(rt, "late"), Backlog: rapid.Uint64().Draw(rt, "backlog"),
		Freeze: rapid.Float64().Draw(rt, "freeze"), Thaw: rapid.Float64().Draw(rt, "thaw"),
		Probes: drawValues(rt, "probes"), Values: drawValues(rt, "values"), Neighbour: drawValues(rt, "neighbour"),
		Latency: histogram(rapid.SliceOf(rapid.Int64Range(0, 1<<40)).Draw(rt, "latencies"))}
	if rapid.Bool().Draw(rt, "dropped") {
		w.Dropped, w.Detail = DropFreeze, "after 1.2 s"
	}
	return w
}

// plain decodes every line with a block as Append writes it, like encoding/json.
func TestBlocksAreReadPlainly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := Line{Time: time.Unix(0, rapid.Int64Min(0).Draw(rt, "time")).UTC(), Block: &Block{
			Workload: "oltp", Generation: rapid.IntMin(0).Draw(rt, "generation"), Number: rapid.IntMin(0).Draw(rt, "number"),
			Windows: rapid.SliceOfN(rapid.Custom(drawWindow), 1, 4).Draw(rt, "windows")}}
		line, err := json.Marshal(l)
		if err != nil {
			rt.Fatal(err)
		}
		if !alike(rt, line) {
			rt.Fatalf("not taken: %s", line)
		}
	})
}

// plain accepts nothing that Append does not write.
func TestWhatIsNotPlain(t *testing.T) {
	whole := `{"time":"2026-11-21T08:00:00Z","block":{"workload":"oltp","generation":0,"number":1,"windows":[{"arm":"host","ops":3,"latency":"AQE","probes":{"a":1,"b":{"missing":"no"}}}]}}`
	if !alike(t, []byte(whole)) || !alike(t, []byte(whole+"\n")) {
		t.Error("not taken")
	}
	for _, change := range [][2]string{
		{`"ops":3`, `"ops": 3`}, {`"ops":3`, `"ops":03`}, {`"ops":3`, `"ops":-3`}, {`"ops":3`, `"ops":3.0`}, {`"ops":3`, `"ops":99999999999999999999`},
		{`"ops":3`, `"ops":"3"`}, {`"ops":3`, `"ops":null`}, {`"ops":3`, `"OPS":3`}, {`"ops":3`, `"seconds":1e999`}, {`"ops":3`, `"seconds":+1`},
		{`"ops":3`, `"seconds":1.`}, {`"ops":3`, `"seconds":.5`}, {`"ops":3`, `"seconds":1e`}, {`"ops":3`, `"seconds":0x1p-2`}, {`"ops":3`, `"seconds":inf`},
		{`"ops":3`, `"later":3`}, {`"host"`, `"h\u006fst"`}, {`"host"`, "\"h\tst\""}, {`"host"`, `"höst"`}, {`"AQE"`, "\"A\rQE\""}, {`"AQE"`, `"!"`},
		{`"a":1`, `"a":null`}, {`{"missing":"no"}`, `{"absent":"no"}`}, {`"block":{"w`, `"block":null,"run":{"w`}, {`]}}`, `]}`}, {`]}}`, `]}}}`},
		{`]}}`, `],"windows":[]}}`}, {`T08`, `T28`}, {`"generation":0`, `"generation":9223372036854775808`},
	} {
		line := bytes.Replace([]byte(whole), []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(line, []byte(whole)) || alike(t, line) {
			t.Errorf("taken: %s", line)
		}
	}
}

func FuzzPlain(f *testing.F) {
	dir, path := write(f, runLine(), blockLine(0), blockLine(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err, dir)
	}
	for line := range bytes.Lines(whole) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) { alike(t, line) })
}
