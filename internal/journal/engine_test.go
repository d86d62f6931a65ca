package journal

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowDaemon answers as a Docker daemon that has been asked for an image by somebody who
// is gone, and has it only after a while.
type slowDaemon struct {
	mu    sync.Mutex
	began time.Time
	after time.Duration
	image bool // loaded
	gone  bool // and removed
}

func (d *slowDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.began.IsZero() {
		d.began = time.Now()
	}
	d.image = d.image || time.Since(d.began) > d.after
	switch {
	case strings.HasSuffix(r.URL.Path, "/_ping"):
		w.Header().Set("Api-Version", "1.45")
	case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/images/tare-root:tare-r1-docker") && d.image && !d.gone:
		d.gone = true
		_, _ = w.Write([]byte("[]"))
	default:
		http.Error(w, `{"message": "no such thing"}`, http.StatusNotFound)
	}
}

// What a busy daemon makes when its client has been killed is removed too.
func TestUndoLateImage(t *testing.T) {
	d := &slowDaemon{after: 2500 * time.Millisecond}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(d)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	if err := removeContainer(Engine("docker", "unix://"+socket, "tare-r1-docker"), "r1", time.Now().Add(lateBound)); err != nil {
		t.Fatal(err)
	}
	if !d.gone {
		t.Error("the image stays")
	}
}
