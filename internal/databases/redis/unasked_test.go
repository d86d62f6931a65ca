package redis

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/tarelab/tare/internal/databases/db"
)

// What a server sends before it is asked is no answer, and a value without a name is none.
func TestUnaskedAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		first, then string
		want        error
	}{
		"more than the answer": {"+OK\r\n:1\r\n", "", errUnasked},
		"no pair":              {"+OK\r\n", ":1\r\n", errPairs},
		"three parts":          {"+OK\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", errPairs},
		"a pair":               {"+OK\r\n", "*2\r\n$1\r\nx\r\n$1\r\ny\r\n", nil},
	} {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			b := make([]byte, 1<<10)
			for _, answer := range []string{c.first, c.then} {
				if _, err := far.Read(b); err != nil || answer == "" {
					return
				}
				_, _ = far.Write([]byte(answer))
			}
		}()
		conn, err := connect(db.Address{Way: &db.Way{Open: func(context.Context) (net.Conn, error) { return near, nil }}})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := conn.Ask(t.Context(), "CONFIG GET x")
		if !errors.Is(err, c.want) || (err == nil) != (len(rows) == 1) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
		_ = conn.Close()
	}
}
