package like

import (
	"context"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// askBound bounds the time for all questions to a running server.
const askBound = 20 * time.Second

// Ask asks a running server for its settings, which it only reads. from names the server. denied is true if
// the server refuses user or password.
func Ask(ctx context.Context, s db.Service, at db.Address, from string) (a Adopted, denied bool, err error) {
	ctx, stop := context.WithTimeout(ctx, askBound)
	defer stop()
	p := s.Protocol()
	conn, err := p.Connect(at)
	if err != nil {
		return a, false, err
	}
	defer conn.Close()
	given, err := s.Describe().Conf.Variables(func(question string) ([][]string, error) { return conn.Ask(ctx, question) })
	if err != nil {
		return a, p.Denied(err), fmt.Errorf("ask for the settings: %w", err)
	}
	for i := range given {
		given[i].From = from
	}
	a, err = adopt(s.Describe(), given)
	return a, false, err
}
