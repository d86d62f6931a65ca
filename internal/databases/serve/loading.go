package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Loading is where a dump is being loaded.
type Loading struct {
	At string `json:"at"` // FILE:LINE
	// Seconds is how long the dump has been loaded, Statement how long this statement runs.
	Seconds   float64 `json:"seconds"`
	Statement float64 `json:"statement"`
}

// loadingFile has a Loading, in the directory Prepare.Into.
const loadingFile = "loading.json"

// ReadLoading reads where a dump is being loaded into a directory; false: none is, or not for long.
func ReadLoading(into string) (l Loading, ok bool) {
	b, err := os.ReadFile(filepath.Join(into, loadingFile))
	return l, err == nil && json.Unmarshal(b, &l) == nil
}

// loadingShown is the time after which tare says where it is.
const loadingShown = 10 * time.Second

// loading writes Loading once a second.
type loading struct {
	file, into string
	since      time.Time
	over       chan struct{}
	done       sync.WaitGroup

	mu   sync.Mutex
	line int
	from time.Time // of the statement at the line
}

// startLoading writes into a directory, unless it is "", until stop is called.
func startLoading(file, into string) *loading {
	l := &loading{file: file, into: into, since: time.Now(), over: make(chan struct{}), line: 1, from: time.Now()}
	if into == "" {
		return l
	}
	l.done.Go(func() {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				l.write()
			case <-l.over:
				_ = os.Remove(filepath.Join(into, loadingFile)) // the run removes the directory
				return
			}
		}
	})
	return l
}

// begin notes that a statement begins, or one of its rows.
func (l *loading) begin(line int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line, l.from = line, time.Now()
}

func (l *loading) stop() {
	close(l.over)
	l.done.Wait()
}

// write replaces the file. An error costs only the line for people.
func (l *loading) write() {
	l.mu.Lock()
	now := Loading{At: l.file + ":" + strconv.Itoa(l.line), Seconds: time.Since(l.since).Seconds(), Statement: time.Since(l.from).Seconds()}
	l.mu.Unlock()
	b, err := json.Marshal(now)
	if err != nil || now.Seconds < loadingShown.Seconds() {
		return
	}
	part := filepath.Join(l.into, loadingFile+".part")
	if os.WriteFile(part, b, 0o600) == nil {
		_ = os.Rename(part, filepath.Join(l.into, loadingFile))
	}
}
