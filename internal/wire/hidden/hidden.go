// Package hidden is what the commands have in common as which tare starts itself to be
// a load, a server, or what fills one: how they are called, and how they end.
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

// Main is such a command: args are a kind and its parameters in JSON. do returns when it
// has finished, or when it was told to end by SIGTERM. The exit code is 0, 1 on an error,
// which is on standard error, 2 when called wrongly: of other arguments or ErrKind, and ShortCode.
func Main(command string, args []string, do func(ctx context.Context, kind string, params []byte) error) int {
	if len(args) != 2 {
		fmt.Fprintf(os.Stderr, "tare %s: want a kind and its parameters; tare itself starts this\n", command)
		return 2
	}
	// Ctrl-C reaches every process of the terminal; tare decides what follows.
	signal.Ignore(unix.SIGINT, unix.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	_ = oom.Offer(oom.Load) // where /proc is read-only the process is one among others
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
		return 2
	case errors.Is(err, reserve.ErrShort):
		return ShortCode
	}
	return 1
}

// Decode reads parameters; one that the kind does not have is an error.
func Decode(params []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("parameters %s: %w", params, err)
	}
	return nil
}
