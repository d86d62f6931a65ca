package journal

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// write makes the bytes of a journal as Add and Done do.
func write(lines []line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.Bytes()
}

// A power cut may keep the end of the last line and lose its beginning. In an earlier line that
// is damage, because the line had been synced.
func TestAHoleInAJournal(t *testing.T) {
	lines := []line{{Header: &Header{Schema: Schema, Run: "r"}}}
	for i, s := range []Step{scratch{"/x/tare-r"}, scratch{"/x/tare-r-a"}, counted{Name: "c"}} {
		lines = append(lines, line{Step: text(s), Token: Token(i + 1)})
	}
	whole := write(lines)
	last := len(write(lines[:3]))
	for to := last + 1; to < len(whole); to++ {
		for _, from := range []int{last, to - 1} {
			data := bytes.Clone(whole)
			clear(data[from:to])
			keep := last // the next note begins there, or after zeros
			if from == last && to == len(whole)-1 {
				keep = len(whole)
			}
			c, err := parse(data, kinds)
			if err != nil || len(c.steps) != 2 || c.header.Run != "r" || c.whole != keep {
				t.Fatalf("zeros from %d to %d of %d: %d steps, %v", from-last, to-last, len(whole)-last, len(c.steps), err)
			}
		}
	}
	before := len(write(lines[:2]))
	clear(whole[before : before+10])
	if c, err := parse(whole, kinds); err == nil || len(c.steps) != 2 {
		t.Errorf("a hole in a line that had been synced: %d steps, %v", len(c.steps), err)
	}
}

// A journal that is cut off anywhere gives exactly the steps of whole lines, without those that
// whole lines note as done.
func TestReadAnyPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []line{{Header: &Header{Schema: Schema, Run: "r", Pid: 1}}}
		n := rapid.IntRange(0, 12).Draw(t, "steps")
		next := Token(1)
		for range n {
			if next > 1 && rapid.Bool().Draw(t, "done") {
				lines = append(lines, line{Done: Token(rapid.IntRange(1, int(next)-1).Draw(t, "which"))})
				continue
			}
			path := "/" + rapid.String().Draw(t, "path")
			lines = append(lines, line{Step: text(scratch{path}), Token: next})
			next++
		}
		data := write(lines)
		cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
		c, err := parse(data[:cut], kinds)
		whole := bytes.Count(data[:cut], []byte("\n"))
		want := map[Token]bool{}
		for _, l := range lines[:whole] {
			switch {
			case l.Step != nil:
				want[l.Token] = true
			case l.Done != 0:
				delete(want, l.Done)
			}
		}
		var got []Token
		for _, p := range c.steps {
			got = append(got, p.token)
		}
		if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("cut at %d: steps %v, want %v", cut, got, want)
		}
		if (err != nil) != (whole == 0) {
			t.Errorf("cut at %d after %d lines: %v", cut, whole, err)
		}
	})
}

func TestReadDamage(t *testing.T) {
	head := write([]line{{Header: &Header{Schema: Schema, Run: "r"}}, {Step: text(scratch{"/a"}), Token: 1}})
	tail := write([]line{{Step: text(scratch{"/b"}), Token: 2}})
	future := write([]line{{Step: text(unknown("future", "/b")), Token: 2}})
	other := bytes.Replace(head, []byte(Schema), []byte("tare/journal/v2"), 1)
	for name, c := range map[string]struct {
		data  []byte
		steps int
		err   bool
	}{
		"whole":           {slices.Concat(head, tail), 2, false},
		"zeros after":     {slices.Concat(head, tail, make([]byte, 100)), 2, false},
		"zeros between":   {slices.Concat(head, make([]byte, 100), []byte("\n"), tail), 2, false},
		"blank lines":     {slices.Concat(head, []byte("\n\n"), tail), 2, false},
		"torn":            {slices.Concat(head, tail[:len(tail)-1]), 1, false},
		"another version": {slices.Concat(other, tail), 0, true},
		"future kind":     {slices.Concat(head, future), 1, true},
		"future member":   {slices.Concat(head, []byte(`{"change":{"kind":"directory"}}`+"\n"), tail), 2, true},
		"with a member":   {slices.Concat(head, []byte(`{"step":{"kind":"counted"},"token":2,"order":1}`+"\n")), 1, true},
		"no member":       {slices.Concat(head, []byte("{}\n")), 1, true},
		"not an object":   {slices.Concat(head, []byte("7\n")), 1, true},
		"null step":       {slices.Concat(head, []byte(`{"step":null,"token":2}`+"\n")), 1, true},
		"two headers":     {slices.Concat(head, head), 2, true},
		"nonsense within": {slices.Concat(head, []byte("nonsense\n"), tail), 2, true},
		"no header":       {tail, 1, true},
		"empty":           {nil, 0, true},
	} {
		got, err := parse(c.data, kinds)
		if len(got.steps) != c.steps || (err != nil) != c.err {
			t.Errorf("%s: %d steps, %v", name, len(got.steps), err)
		}
	}
}

// FuzzParse: whatever a journal contains, each step is of a known kind.
func FuzzParse(f *testing.F) {
	header := line{Header: &Header{Schema: Schema, Run: "r", Boot: "x"}}
	steps := []Step{scratch{"/x/tare-r"}, scratch{"/etc"}, counted{Name: "c"}, unknown("future", "/b")}
	lines := []line{header}
	for i, s := range steps {
		lines = append(lines, line{Step: text(s), Token: Token(i + 1)})
		f.Add(write([]line{header, {Step: text(s), Token: 1}}))
	}
	f.Add(write(append(lines, line{Done: 3})))
	f.Add([]byte("{\"step\":null}\n{\"header\":{}}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _ := parse(data, kinds)
		if c.whole > len(data) || c.whole < 0 {
			t.Errorf("whole %d of %d", c.whole, len(data))
		}
		for _, p := range c.steps {
			if p.step == nil || !slices.ContainsFunc(kinds, func(k Kind) bool { return k.Name == p.step.Kind() }) {
				t.Fatalf("a step is %+v, of %q", p.step, data)
			}
		}
	})
}
