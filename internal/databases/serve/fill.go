package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/undo/trust"
)

// filler fills an empty server.
type filler interface {
	// params are the parameters of the data set, a part of its key in the cache.
	params() map[string]string
	// tool is the program that fills it; "" if there is none.
	tool() (name, version string)
	// size is an upper estimate of the data set's size in bytes.
	size() int64
	// connections is the number of concurrent connections.
	connections() int
	fill(ctx context.Context, b *building) error
}

func (p Prepare) filler(ctx context.Context, f Found) (filler, error) {
	switch protocol := f.Service.Describe().Protocol; {
	case p.Pgbench != nil && protocol != postgres.Name:
		return nil, fmt.Errorf("pgbench fills PostgreSQL, not %s", f.Name())
	case p.Pgbench != nil:
		return p.pgbenchFiller(ctx, f)
	case p.Hits != nil && protocol != clickhouse.Name:
		return nil, fmt.Errorf("ClickHouse's table is nothing for %s", f.Name())
	case p.Hits != nil:
		return hitsFiller{*p.Hits}, nil
	case p.Sysbench.Script != "" && protocol != autoProtocol:
		return nil, fmt.Errorf("%s prepares data for the MySQL family, not for %s", sysbench.Program, f.Name())
	case p.Sysbench.Script != "":
		return p.sysbenchFiller(ctx)
	}
	return p.scriptFiller()
}

// scriptFiller runs the statements of a file; without a file the server stays empty.
type scriptFiller struct {
	text []byte
	name string
}

func (p Prepare) scriptFiller() (filler, error) {
	if p.Script == "" {
		return scriptFiller{}, nil
	}
	text, err := trust.ReadGiven(p.Script)
	if err != nil {
		return nil, fmt.Errorf("read the statements: %w", err)
	}
	return scriptFiller{text, p.Script}, nil
}

func (s scriptFiller) params() map[string]string {
	params := map[string]string{"load": "statements"}
	if s.name != "" {
		sum := sha256.Sum256(s.text)
		params["sha256"] = hex.EncodeToString(sum[:])
	}
	return params
}

func (scriptFiller) tool() (name, version string) { return "", "" }

// size is that of the statements; the size of what they make is unknown.
func (s scriptFiller) size() int64 { return int64(len(s.text)) }

func (scriptFiller) connections() int { return 1 }

func (s scriptFiller) fill(ctx context.Context, b *building) error {
	c, err := Connect(b.address())
	if err != nil {
		return err
	}
	defer c.Close()
	for _, statement := range statements(string(s.text)) {
		if err := c.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %s: %w", s.name, statement[:min(len(statement), 200)], err)
		}
	}
	return nil
}

// statements splits a text at semicolons that end a line. Lines that begin with "--" are skipped.
func statements(text string) (out []string) {
	var lines []string
	add := func() {
		if s := strings.TrimSpace(strings.Join(lines, "\n")); s != "" {
			out = append(out, s)
		}
		lines = nil
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		rest, ended := strings.CutSuffix(line, ";")
		lines = append(lines, rest)
		if ended {
			add()
		}
	}
	add()
	return out
}
