package agent

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
)

// nowhere is a stream that discards all.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// Whatever a pod sends, tare does not crash and reads to the end; then each process has ended once.
func FuzzHear(f *testing.F) {
	f.Add([]byte(`{"number":2,"log":"aGVsbG8="}` + "\n" + `{"number":2,"state":{"state":1,"note":"x","facts":"eA=="}}` + "\n" + `{"number":1,"now":5}` + "\n"))
	f.Add([]byte(`{"number":2,"exit":{"status":9,"oom":true}}{"number":2,"exit":{"status":256,"why":"late"}}`))
	f.Add([]byte(`{"number":1,"failure":{"error":"no"}}{"number":1,"sample":{}}{"number":2,"state":{"state":18446744073709551615}}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		memory, err := counter.Create(1)
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		told, err := readback.Create()
		if err != nil {
			t.Fatal(err)
		}
		defer told.Close()
		l := newLink(io.NopCloser(bytes.NewReader(said)), nowhere{io.Discard}, func() environment.Exit { return environment.Exit{Code: -1} })
		l.waiting[1] = make(chan event, 1)
		p, err := l.local(environment.Process{Files: []*os.File{memory.File(), told}})
		if err != nil {
			t.Fatal(err)
		}
		l.started[2] = p
		l.receive(lostAfter)
		<-l.ended
		<-p.Done()
		if p.memory != nil || l.why == nil {
			t.Errorf("open still: %v, %v", p.memory, l.why)
		}
	})
}
