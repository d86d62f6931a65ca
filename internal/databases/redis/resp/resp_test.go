package resp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestCommand(t *testing.T) {
	if got, want := string(Command(nil, "SET", "a", "")), "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$0\r\n\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// answers returns all answers in a text, read in pieces of different sizes.
func answers(from io.Reader, whole bool) (texts []string, last error) {
	r := NewReader(from)
	keep := func(b []byte) { texts = append(texts, string(b)) }
	if !whole {
		keep = nil
	}
	for {
		err := r.Answer(keep)
		var refused Error
		if errors.As(err, &refused) {
			texts = append(texts, "-"+string(refused))
		} else if err != nil {
			return texts, err
		}
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 3*firstBuffer)
	in := "+OK\r\n:42\r\n$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n-ERR no\r\n$49152\r\n" + long + "\r\n+END\r\n"
	want := []string{"OK", "42", "a\r\n", "", "", "a", "1", "-ERR no", long, "END"}
	for name, from := range map[string]io.Reader{"whole": strings.NewReader(in), "in bytes": iotest.OneByteReader(strings.NewReader(in))} {
		got, err := answers(from, true)
		if d := cmp.Diff(want, got); d != "" || err != io.EOF {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
	if got, err := answers(iotest.HalfReader(strings.NewReader(in)), false); len(got) != 1 || err != io.EOF {
		t.Errorf("left out: %q, %v", got, err)
	}
}

func TestWrong(t *testing.T) {
	for in, want := range map[string]error{
		"?\r\n": errProtocol, "\r\n": errProtocol, "+OK\n": errProtocol, "$x\r\n": errProtocol, "$\r\n": errProtocol, "*-2\r\n": errProtocol,
		"$99999999999999999999\r\n": errProtocol, "$600000000\r\n": errProtocol, "+" + strings.Repeat("x", 1<<20): errProtocol,
		"$3\r\nab": io.ErrUnexpectedEOF, "+O": io.ErrUnexpectedEOF, "": io.EOF,
	} {
		if _, err := answers(strings.NewReader(in), true); !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", in, err, want)
		}
	}
}

func TestNoGarbage(t *testing.T) {
	in := bytes.Repeat([]byte("$100\r\n"+strings.Repeat("x", 100)+"\r\n"), 200)
	from := bytes.NewReader(in)
	r := NewReader(from)
	var b []byte
	if n := testing.AllocsPerRun(100, func() {
		b = Word(Word(Head(b[:0], 2), "GET"), "key")
		if err := r.Answer(nil); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for each answer", n)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\na\r\n:1\r\n-ERR x\r\n"), true)
	f.Add([]byte("*3\r\n*-1\r\n$-1\r\n+\r\n"), false)
	f.Fuzz(func(t *testing.T, in []byte, whole bool) {
		got, err := answers(bytes.NewReader(in), whole)
		again, same := answers(iotest.OneByteReader(bytes.NewReader(in)), whole)
		if d := cmp.Diff(got, again); d != "" || (err == io.EOF) != (same == io.EOF) {
			t.Errorf("%v and %v: %s", err, same, d)
		}
	})
}
