// Package hidden has what the hidden commands of tare share. tare starts its own binary for
// several roles, each with a command of its own; cmd/tare lists them.
package hidden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/oom"
	"github.com/tarelab/tare/internal/linux/reserve"
)

// ErrKind means that a command has no such kind.
var ErrKind = errors.New("called wrongly")

// ShortCode is the exit code for reserve.ErrShort.
const ShortCode = 5

// Main is a hidden command that takes a kind and its parameters in JSON. do gets both and
// returns when it has finished or ctx ends, which SIGTERM does. The exit code is 0, 1 on an
// error, ShortCode for reserve.ErrShort, and 2 for other arguments or ErrKind. Errors are
// written to standard error.
func Main(command string, args []string, do func(ctx context.Context, kind string, params []byte) error) int {
	if len(args) != 2 {
		fmt.Fprintf(os.Stderr, "tare %s: want a kind and its parameters; only tare itself starts this\n", command)
		return wrongly
	}
	// Ctrl-C reaches every process of the terminal; tare decides what follows.
	signal.Ignore(unix.SIGINT, unix.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	_ = oom.Offer(oom.Load) // a read-only /proc leaves the process as likely a victim as others
	err := do(ctx, args[0], []byte(args[1]))
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "tare: %v\n", err)
	if remedy := hint.Of(err); remedy != "" {
		fmt.Fprintf(os.Stderr, "tare: %s\n", remedy)
	}
	switch {
	case errors.Is(err, ErrKind):
		return wrongly
	case errors.Is(err, reserve.ErrShort):
		return ShortCode
	}
	return 1
}

// Decode reads parameters. A field that the kind does not have is an error.
func Decode(params []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("parameters %s: %w", params, err)
	}
	return nil
}
