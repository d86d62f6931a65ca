package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// Kind sends a list of queries to ClickHouse over HTTP. clickhouse-benchmark uses the native
// protocol.
const Kind = "clickhouse" // parameters: Params

// Params are the parameters of clickhouse. Each slot of the counters is a client.
type Params struct {
	load.Database
	// Queries are sent in order, over and over, each by the next free client. File, an absolute
	// path, holds them instead, one per line.
	Queries []string `json:"queries,omitempty"`
	File    string   `json:"file,omitempty"`
}

const (
	// clickhouseWarm is how often each query runs before the load is ready.
	clickhouseWarm = 2
	// clickhouseGone is how long a server may be out of reach before the load ends.
	clickhouseGone = 10 * time.Second
)

// queryRun is a running load with its server.
type queryRun struct {
	Params
	m       *counter.Memory
	server  *load.Attached
	at      db.Address
	clients []*queryClient
	turn    atomic.Uint64 // number of queries sent
	logOnce sync.Once     // logs the first query that failed
}

// Bodies are the loads of this folder, by kind.
func Bodies() map[string]load.Body {
	return map[string]load.Body{Kind: load.Counted(run)}
}

func run(ctx context.Context, m *counter.Memory, params []byte) error {
	q := &queryRun{m: m}
	if err := hidden.Decode(params, &q.Params); err != nil {
		return err
	}
	err := load.EndError(ctx, q.run(ctx))
	for _, c := range q.clients {
		c.hangUp() // a server that shuts down waits for open connections
	}
	return errors.Join(err, q.server.Stop())
}

func (q *queryRun) run(ctx context.Context) (err error) {
	if err := q.read(); err != nil {
		return err
	}
	if q.server, err = q.Attach(ctx, clickhouse.Name); err != nil {
		return err
	}
	if err := q.server.Become(""); err != nil {
		return err
	}
	settings, err := q.server.Ready(ctx)
	if err != nil {
		return err
	}
	q.at = q.server.Address()
	if err := q.connect(ctx); err != nil {
		return err
	}
	settings = append(settings,
		record.Setting{Name: "connections", Got: "one for each client, kept"},
		record.Setting{Name: "queries", Got: strconv.Itoa(len(q.Queries))})
	if err := readback.Write(load.FactsFd, settings); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() {
		q.m.Stop() // first, so that broken connections do not count as errors
		for _, c := range q.clients {
			c.hangUp()
		}
	})
	q.m.SetReady()
	return load.Each(ctx, q.m, func(i int) error { return q.clients[i].run() })
}

// read reads the file of queries, if there is one.
func (q *Params) read() error {
	if q.File == "" {
		return nil
	}
	text, err := os.ReadFile(q.File)
	if err != nil {
		return fmt.Errorf("read the queries: %w", err)
	}
	if q.Queries = QueryLines(string(text)); len(q.Queries) == 0 {
		return fmt.Errorf("read the queries: %s holds none", q.File)
	}
	return nil
}

// QueryLines are the queries of a text, one per line, as clickhouse-benchmark reads them. Empty lines
// and lines that begin with "--" are skipped.
func QueryLines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(strings.TrimSpace(line), ";"); line != "" && !strings.HasPrefix(line, "--") {
			out = append(out, line)
		}
	}
	return out
}

// connect opens all connections and runs each query: a query that fails now would fail in the
// windows too.
func (q *queryRun) connect(ctx context.Context) error {
	for i := range q.m.Threads() {
		c := &queryClient{of: q, slot: q.m.Slot(i)}
		q.clients = append(q.clients, c)
		if err := c.dial(ctx); err != nil {
			return fmt.Errorf("connection %d of %d to %s: %w", i+1, q.m.Threads(), q.at.Dial, err)
		}
	}
	stop := context.AfterFunc(ctx, func() {
		for _, c := range q.clients {
			c.hangUp()
		}
	})
	defer stop()
	for i := range max(clickhouseWarm*len(q.Queries), q.m.Threads()) {
		query := q.Queries[i%len(q.Queries)]
		if err := q.clients[i%len(q.clients)].link.Run(query); err != nil {
			return q.failed(query, err)
		}
	}
	return nil
}

// failed is an error with the query that the server refused, or the end of the server.
func (q *queryRun) failed(query string, err error) error {
	var answer *clickhouse.Error
	if errors.As(err, &answer) {
		return fmt.Errorf("the query %q failed: %w", query[:min(len(query), 200)], err)
	}
	return q.server.Cause(err)
}
