package like

import (
	"context"
	"fmt"

	"github.com/tarelab/tare/internal/databases/foreign"
)

// Ask asks a running server for its settings, which it only reads. from names the server. The error wraps a
// foreign.Error if the server has not answered.
func Ask(ctx context.Context, t Target, at foreign.Server, from string) (a Adopted, err error) {
	conn, err := foreign.Open(ctx, at)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	given, err := t.Service.Describe().Conf.Variables(func(question string) ([][]string, error) { return conn.Ask(ctx, question) })
	if err != nil {
		return a, fmt.Errorf("ask for the settings: %w", err)
	}
	for i := range given {
		given[i].From = from
	}
	return adopt(t, given, true)
}
