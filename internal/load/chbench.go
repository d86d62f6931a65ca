package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/chbench"
	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/record"
)

// KindClickHouseBenchmark runs clickhouse-benchmark, one for each window.
const KindClickHouseBenchmark = "clickhouse-benchmark" // parameters: ClickHouseBenchmark

// ClickHouseBenchmark are the parameters of clickhouse-benchmark. Its server is
// inside: it speaks another protocol than the settings are read back by, and a
// network of an arm publishes one port.
type ClickHouseBenchmark struct {
	ClickHouse
	// Program is its path or that of clickhouse; empty: in PATH.
	Program string `json:"program,omitempty"`
	// Clients are the queries at the same time.
	Clients int `json:"clients"`
	// Iterations are how many queries a window has at most; 0: as many as there is
	// time for.
	Iterations int `json:"iterations,omitempty"`
	// Reconnect is after how many queries a connection is made anew; 0: never.
	Reconnect int      `json:"reconnect,omitempty"`
	Options   []string `json:"options,omitempty"`
}

// chTrial is the length of the first run, which nobody counts.
const chTrial = 200 * time.Millisecond

// chRunner is clickhouse-benchmark with its server.
type chRunner struct {
	ClickHouseBenchmark
	m      *counter.Memory
	server *attached
	found  serve.ClickHouseBenchmark
	at     serve.Address
	input  []byte
	json   string // path of its report; empty: it writes none
	tool   *serve.Process
}

func runClickHouseBenchmark(ctx context.Context, m *counter.Memory, params []byte) error {
	c := &chRunner{m: m}
	if err := decode(params, &c.ClickHouseBenchmark); err != nil {
		return err
	}
	err := c.run(ctx)
	if ctx.Err() != nil {
		err = nil // what breaks from here on is not the server's doing
	}
	if c.tool != nil {
		c.tool.Kill()
	}
	if c.json != "" {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(c.json)))
	}
	return errors.Join(remedied(err), c.server.stop())
}

func (c *chRunner) run(ctx context.Context) (err error) {
	if c.found, err = serve.FindClickHouseBenchmark(ctx, c.Program); err != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	c.input = chbench.Input(c.Queries)
	if c.Server.Native, err = serve.FreeLoopback(); err != nil {
		return err
	}
	if c.server, err = c.attach(ctx, service.ClickHouseName); err != nil {
		return err
	}
	settings, err := c.server.ready(ctx)
	if err != nil {
		return err
	}
	if c.at, err = c.server.address(); err != nil {
		return err
	}
	if c.found.Can.JSON {
		dir, err := os.MkdirTemp("", "tare-clickhouse-benchmark-")
		if err != nil {
			return fmt.Errorf("make a directory for reports: %w", err)
		}
		c.json = filepath.Join(dir, "report.json")
	}
	// What cannot be done here at all shows now, and what is asked for is cached.
	trial, err := c.measure(ctx, chTrial, func() {})
	if err == nil && trial.errors > 0 {
		err = fmt.Errorf("%d of the first queries failed; the log has the first of them", trial.errors)
	}
	if err != nil {
		return err
	}
	if err := facts.Write(factsFd, append(settings, c.facts(trial.era)...)); err != nil {
		return err
	}
	return c.windows(ctx)
}

// facts say what was forced, whatever the version does by itself.
func (c *chRunner) facts(era string) []record.Setting {
	kept := "kept"
	if c.Reconnect > 0 {
		kept = fmt.Sprintf("made anew after %d queries", c.Reconnect)
	}
	latencies := "14 quantiles of each run"
	if c.json == "" {
		latencies += ", in steps of 1 ms"
	}
	return []record.Setting{
		{Name: chbench.Program, Got: era},
		{Name: chbench.Program + " counted", Got: "by what it prints, one process for each window"},
		{Name: "query time", Got: "the client's"},
		{Name: "latencies", Got: latencies},
		{Name: "connections", Got: kept},
		{Name: "queries", Got: strconv.Itoa(len(c.Queries))},
	}
}

// windows runs it whenever a window is asked for.
func (c *chRunner) windows(ctx context.Context) error {
	c.m.SetReady()
	for {
		r, ok := c.m.Next()
		if !ok {
			return nil
		}
		if err := pass(ctx, r.Discard); err != nil {
			return err
		}
		report, err := c.measure(ctx, r.Length, func() { c.m.BeginWindow(r) })
		if err != nil {
			return err
		}
		c.m.Slot(0).Add(report.ops, report.errors, report.latency)
		c.m.Answer(r, counter.Answer{Seconds: report.seconds})
	}
}

// measure runs it once. begun is called when it has read its queries.
func (c *chRunner) measure(ctx context.Context, length time.Duration, begun func()) (report chReport, err error) {
	said := &chOutput{begun: sync.OnceFunc(begun)}
	if err := c.start(length, io.MultiWriter(os.Stderr, said)); err != nil {
		return report, err
	}
	select {
	case <-ctx.Done():
		return report, ctx.Err()
	case <-c.server.done():
		return report, c.server.process.Ended()
	case <-c.tool.Done():
	}
	if !c.tool.OK() {
		return report, c.server.because(c.tool.Ended())
	}
	said.begun() // its words may be others in another version
	var written []byte
	if c.json != "" {
		if written, err = os.ReadFile(c.json); err != nil {
			return report, fmt.Errorf("read the report of %s: %w", chbench.Program, err)
		}
	}
	if report, err = readClickHouseBenchmark(said.text.Bytes(), written, said.between()); err != nil {
		return report, c.server.because(err)
	}
	return report, nil
}

// start starts it. The password is neither in its arguments nor in a file.
func (c *chRunner) start(length time.Duration, log io.Writer) error {
	host, text, err := net.SplitHostPort(c.Server.Native)
	if err != nil {
		return fmt.Errorf("address of the server: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("address of the server: %w", err)
	}
	args, err := chbench.Run{
		Host: host, Port: port, User: c.at.User, Database: c.at.Database, Concurrency: c.Clients, Iterations: c.Iterations,
		Seconds: length.Seconds(), Reconnect: c.Reconnect, JSON: c.json, Options: c.Options,
	}.Args(c.found.Can)
	if err != nil {
		return err
	}
	cmd := exec.Command(c.found.Path, append(c.found.Args[:len(c.found.Args):len(c.found.Args)], args...)...)
	cmd.Stdin = bytes.NewReader(c.input)
	cmd.Env = append(serve.ClickHouseBenchmarkEnviron(), chbench.Variable+"="+c.at.Secret)
	c.tool, err = serve.StartConcealed(cmd, chbench.Program, log, chbench.Placeholder, chbench.Variable)
	return err
}
