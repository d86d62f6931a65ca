package workloadtest

import (
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// trouble checks that a process in an unusable place ends with exit code 1 and an error on standard
// error; a load also writes the error into its counters.
func trouble(t *testing.T, w workload.Workload, fast map[string]string) {
	s := mustStages(t, w, fast)
	t.Run("no counters", func(t *testing.T) {
		fails(t, s.Load(wire.Place{Volume: t.TempDir(), Dial: testneed.Address(t)}), nil)
	})
	if s.Prepare != nil {
		t.Run("nowhere to prepare", func(t *testing.T) {
			fails(t, s.Prepare(filepath.Join(t.TempDir(), "missing")), nil)
		})
	}
	if uses(s, wire.Place{Volume: "/another"}) {
		t.Run("no volume", func(t *testing.T) {
			fails(t, s.Load(wire.Place{Volume: filepath.Join(t.TempDir(), "missing")}), Counters(t, s.Threads))
		})
	}
	if s.Prepare != nil {
		t.Run("no data set", func(t *testing.T) {
			fails(t, s.Load(wire.Place{Volume: t.TempDir()}), Counters(t, s.Threads))
		})
	}
	if s.Server != nil {
		t.Run("port taken", func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			fails(t, s.Server(wire.Place{Listen: l.Addr().String()}), nil)
		})
		t.Run("no server", func(t *testing.T) {
			fails(t, s.Load(wire.Place{Dial: testneed.Address(t)}), Counters(t, s.Threads))
		})
	}
}

// uses is true if the load's task differs for the other place.
func uses(s workload.Stages, other wire.Place) bool {
	return !reflect.DeepEqual(s.Load(wire.Place{}), s.Load(other))
}

func fails(t *testing.T, task workload.Task, m *counter.Memory) {
	t.Helper()
	p := Start(t, task, m)
	if code := p.Exit(t); code != 1 {
		t.Errorf("ended with %d, want 1", code)
	}
	said := strings.TrimSpace(p.Said())
	if said == "" || strings.Contains(said, "goroutine ") {
		t.Errorf("standard error is no message: %q", said)
	}
	t.Log(said)
	if m == nil {
		return
	}
	state, note := m.State()
	if state != counter.Failed || note == "" || !strings.Contains(said, note) {
		t.Errorf("state %d, note %q, while standard error says %q", state, note, said)
	}
	if m.Ops() != 0 {
		t.Errorf("counted %d operations nevertheless", m.Ops())
	}
}
