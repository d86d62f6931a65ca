package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/unixsock"
)

// heard counts the bytes that are read of a stream.
type heard struct {
	io.Reader
	bytes int
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.bytes += n
	return n, err
}

// FuzzServe checks for any input that the agent executes each whole request once and in order, starts only
// tare's binary with the arguments of a request, closes the descriptors of requests that it refuses, and
// returns an error for all other input, also for a message without end.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		"{}\n{\"number\":1}\n{\"number\":2,\"look\":true}\n{\"number\":3,\"pause\":true}\n{\"number\":4,\"gate\":false}\n",
		`{"number":1,"start":{"args":["__load","spin","{}"],"env":["A=b"],"dir":"/","threads":2,"bounds":{"CPU":2}}}{"number":2,"kill":1}`,
		`{"number":1,"start":{"args":["x"],"files":2}}` + "\n" + `{"number":2,"start":{"args":[],"files":-1}}`,
		`{"number":1,"measure":{"Seed":1,"Discard":5,"Length":1000,"Tick":10,"Values":3,"Asked":true,"Limit":7,"Neighbour":true}}`,
		`{"number":1,"watch":{"Discard":1,"Length":2}}{"number":2,"echo":{"At":"127.0.0.1:5","Word":"w","Within":1}}`,
		`{"number":1,"probe":{"At":"[::1]:5"}}{"number":2,"try":true}{"number":3,"stop_echo":true}{"number":4,"stop":1}`,
		`{"number":5,"resume":true}`, `{"start":{"args":["x"]}}`, `{"number":1,"look":true,"try":true}`, `{"number":-1}`,
		`{"number":1,"other":1}`, `{"number":1,"sta`, "null 7", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		const most = 1 << 12
		p := &played{t: t, in: &heard{Reader: bytes.NewReader(said)}}
		a := &agent{forkExec: p.execute}
		a.encoder.Encoder = json.NewEncoder(&p.out)
		err := readRequests(p.in, most, p.descriptors, func(r request, files []*os.File) { p.do(a, r, files) })
		if n := p.in.bytes - p.before; n > most {
			t.Errorf("%d bytes were read of one message", n)
		}
		told, whole := requestsOf(said)
		p.check(told, whole, err)
	})
}

// requestsOf are the requests of a stream up to the first other message; whole says that there is none.
func requestsOf(said []byte) (all []request, whole bool) {
	for d := json.NewDecoder(bytes.NewReader(said)); ; {
		var text json.RawMessage
		var r request
		if err := d.Decode(&text); err != nil {
			return all, errors.Is(err, io.EOF)
		}
		if json.Unmarshal(text, &r) != nil {
			return all, false
		}
		all = append(all, r)
	}
}

// played is a stream of requests to an agent that starts nothing.
type played struct {
	t      *testing.T
	in     *heard
	before int // bytes that were read when the last request was done
	out    bytes.Buffer
	done   []request
	handed []*os.File
	begun  [][]string // arguments
}

// execute plays a kernel without room for another process.
func (p *played) execute(path string, args []string, _ *syscall.ProcAttr) (int, error) {
	if path != selfPath || args[0] != "tare" {
		p.t.Errorf("it starts %s %q", path, args)
	}
	p.begun = append(p.begun, args[1:])
	return 0, syscall.EAGAIN
}

// descriptors hands some out, but never many.
func (p *played) descriptors(n int) (files []*os.File) {
	if n < 0 || n > unixsock.MostFiles {
		p.t.Fatalf("%d descriptors", n)
	}
	for range min(n, 3) {
		f, err := os.Open(os.DevNull)
		if err != nil {
			p.t.Fatal(err)
		}
		files = append(files, f)
	}
	p.handed = append(p.handed, files...)
	return files
}

// do executes a request, unless it would read or change this host.
func (p *played) do(a *agent, r request, files []*os.File) {
	p.before, p.done = p.in.bytes, append(p.done, r)
	if harmless(r) {
		a.execute(r, files)
	}
}

func harmless(r request) bool {
	return r.Number != 0 && (r.Start != nil || r.Kill != 0 || r.StopEcho || things(r) == 0)
}

// count are how many things a request asks for.
func things(r request) (n int) {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "Number" && !v.Field(i).IsZero() {
			n++
		}
	}
	return n
}

func (p *played) check(said []request, whole bool, err error) {
	p.t.Helper()
	for i, r := range p.done {
		if i >= len(said) || !reflect.DeepEqual(r, said[i]) {
			p.t.Fatalf("did %+v, was told %+v", p.done, said)
		}
	}
	if err == nil && (!whole || len(p.done) < len(said)) {
		p.t.Errorf("did %d of %d requests, and it was no error; the stream is whole: %v", len(p.done), len(said), whole)
	}
	var answers []int
	var starts [][]string
	for _, r := range p.done {
		if n := things(r); r.Number < 0 || n > 1 || r.Number == 0 && n > 0 {
			p.t.Errorf("did %+v", r)
		}
		if r.Start != nil {
			starts = append(starts, r.Start.Args)
		}
		if harmless(r) {
			answers = append(answers, r.Number)
		}
	}
	for _, args := range p.begun {
		if !slices.ContainsFunc(starts, func(s []string) bool { return slices.Equal(s, args) }) {
			p.t.Errorf("started with %q, was told %q", args, starts)
		}
	}
	if len(p.begun) > len(starts) {
		p.t.Errorf("%d processes, was told %d", len(p.begun), len(starts))
	}
	p.answered(answers)
	for _, f := range p.handed {
		if !errors.Is(f.Close(), os.ErrClosed) {
			p.t.Error("a descriptor was kept")
		}
	}
}

// answered checks that each of these requests has its answer.
func (p *played) answered(numbers []int) {
	for d := json.NewDecoder(&p.out); ; numbers = numbers[1:] {
		var e event
		if err := d.Decode(&e); err != nil {
			if len(numbers) > 0 {
				p.t.Errorf("no answer to %v: %v", numbers, err)
			}
			return
		}
		if len(numbers) == 0 || e.Number != numbers[0] {
			p.t.Fatalf("an answer to %d, not to %v", e.Number, numbers)
		}
	}
}

// endless repeats a text behind a beginning.
type endless struct{ begin, text string }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		if e.begin == "" {
			e.begin = e.text
		}
		p[i], e.begin = e.begin[0], e.begin[1:]
	}
	return len(p), nil
}

func noFiles(int) []*os.File { return nil }

// A message that exceeds its limit is an error at both sides before all of it is in memory. A message of
// exactly that size is accepted.
func TestEndlessMessage(t *testing.T) {
	for name, e := range map[string]endless{
		"a word": {`{"number":1,"start":{"dir":"`, "x"}, "words": {`{"number":1,"start":{"args":[`, `"x",`}, "a number": {`{"number":1`, "0"},
		"blanks": {"{", " "}, "nothing but blanks": {"", " \n"}, "depth": {`{"number":`, "["}, "a name": {`{"`, "n"},
	} {
		const most = 1 << 16
		in := &heard{Reader: &e}
		err := readRequests(in, most, noFiles, func(r request, _ []*os.File) { t.Errorf("%s: did %+v", name, r) })
		if err == nil || in.bytes > most {
			t.Errorf("%s: %v after %d bytes", name, err, in.bytes)
		}
	}
	in := &heard{Reader: &endless{`{"number":1,"log":"`, "AAAA"}}
	l := newLink(io.NopCloser(in), nowhere{io.Discard}, func() environment.Exit { return environment.Exit{Code: -1} })
	l.receive(lostAfter)
	if <-l.ended; in.bytes > mostEvent || l.why == nil || !strings.Contains(l.why.Error(), "more than") {
		t.Errorf("heard %d bytes, %v", in.bytes, l.why)
	}
	text := `{"number":1,"kill":` + strings.Repeat(" ", 100) + `5}`
	var done []request
	err := readRequests(strings.NewReader(text+text), len(text), noFiles, func(r request, _ []*os.File) { done = append(done, r) })
	if want := (request{Number: 1, Kill: 5}); err != nil || !reflect.DeepEqual(done, []request{want, want}) {
		t.Errorf("%+v, %v", done, err)
	}
}

// Requests that tare never makes are refused.
func TestImpossibleRequests(t *testing.T) {
	for _, text := range []string{
		`{"number":1,"start":{"files":-1}}`, `{"number":1,"start":{"files":21}}`,
		`{"number":1,"start":{"threads":-1}}`, `{"number":1,"start":{"threads":4097}}`,
		`{"number":1,"measure":{"Length":-1,"Tick":1}}`, `{"number":1,"measure":{"Tick":-1}}`,
		`{"number":1,"measure":{"Length":9000000000000000000,"Tick":1}}`,
		`{"kill":5}`, `{"number":-1}`, `{"number":1,"pause":true,"resume":true}`, `{"number":1,"paws":true}`, `[]`, `"pause"`, "\x00",
	} {
		err := readRequests(strings.NewReader(text), mostRequest, func(n int) []*os.File { t.Errorf("%s: %d descriptors", text, n); return nil },
			func(r request, _ []*os.File) { t.Errorf("%s: did %+v", text, r) })
		if err == nil || !strings.Contains(err.Error(), "read what tare asks") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
