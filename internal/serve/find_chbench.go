package serve

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/chbench"
	"github.com/tarelab/tare/internal/hint"
)

// ClickHouseBenchmark is clickhouse-benchmark on this host.
type ClickHouseBenchmark struct {
	Path string
	// Args come before all others.
	Args []string
	Can  chbench.Can
}

// FindClickHouseBenchmark finds it; program is its path or that of clickhouse,
// the one that is everything, or empty: whichever is in PATH.
func FindClickHouseBenchmark(ctx context.Context, program string) (b ClickHouseBenchmark, err error) {
	if program == "" {
		b.Path, err = look([]string{chbench.Program, chbench.One})
	} else {
		b.Path, err = executable(program)
	}
	if err == nil {
		if filepath.Base(b.Path) == chbench.One {
			b.Args = []string{chbench.Part}
		}
		b.Can, err = b.help(ctx)
	}
	if err != nil {
		return b, hint.New(fmt.Errorf("find %s: %w", chbench.Program, err),
			"install it (apt-get install clickhouse-tools), name it with benchmark=PATH, or take kind clickhouse, which needs none")
	}
	return b, nil
}

// help asks what it can. Old versions say that with exit code 1.
func (b ClickHouseBenchmark) help(ctx context.Context) (chbench.Can, error) {
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, b.Path, append(b.Args, "--help")...)
	cmd.Env = append(cleanEnviron(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return chbench.Can{}, err
	}
	can, err := chbench.Identify(string(out))
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return can, fmt.Errorf("%s: %w (it said %q)", b.Path, err, first[:min(len(first), 200)])
	}
	return can, nil
}

// ClickHouseBenchmarkEnviron is its environment: nothing of it is a setting.
func ClickHouseBenchmarkEnviron() []string {
	env := slices.DeleteFunc(cleanEnviron(), func(s string) bool { return strings.HasPrefix(s, "CLICKHOUSE_") || strings.HasPrefix(s, "LD_") })
	return append(env, "LC_ALL=C")
}
