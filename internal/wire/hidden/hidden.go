// Package hidden has the code that tare's hidden commands share. tare starts its own binary in
// several roles; each role has a hidden command. cmd/tare lists them.
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

// ErrKind means that a hidden command was called with a kind that it does not have.
var ErrKind = errors.New("called wrongly")

// ShortCode is the exit code for reserve.ErrShort.
const ShortCode = 5

// Main runs a hidden command whose two arguments are a kind and its parameters in JSON. do gets both;
// it returns when it has finished or ctx ends, which SIGTERM does. Main returns the exit code: 0, or
// 1 on an error, ShortCode for reserve.ErrShort, 2 for wrong arguments or ErrKind. It writes errors
// to standard error.
func Main(command string, args []string, do func(ctx context.Context, kind string, params []byte) error) int {
	if len(args) != 2 {
		fmt.Fprintf(os.Stderr, "tare %s: want a kind and its parameters; only tare itself starts this\n", command)
		return wrongArguments
	}
	// Ctrl-C signals every process of the terminal. This one ignores it: tare ends it if need be.
	signal.Ignore(unix.SIGINT, unix.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	_ = oom.Offer(oom.Load) // it fails if /proc is read-only: then the OOM killer does not prefer this process
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
		return wrongArguments
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
