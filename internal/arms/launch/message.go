package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/tarelab/tare/internal/arms/agent"
)

// message is a line of JSON on the socket between tare and a child. Exactly one field is set.
type message struct {
	Created int            `json:"created,omitempty"` // pid of the container's first process
	Start   bool           `json:"start,omitempty"`   // from tare: start the container
	Started bool           `json:"started,omitempty"`
	Exit    *int           `json:"exit,omitempty"` // wait status of wait(2)
	Failure *agent.Failure `json:"failure,omitempty"`
}

// line is a stream of messages.
type line struct {
	in  *json.Decoder
	out *json.Encoder
}

func newLine(rw io.ReadWriter) line {
	return line{json.NewDecoder(rw), json.NewEncoder(rw)}
}

// receive reads one message; a failure is returned as an error.
func (l line) receive() (message, error) {
	var m message
	err := l.in.Decode(&m)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		// ECONNRESET: the child executed another program before it read the newline of the
		// last message.
		return m, io.EOF
	case err != nil:
		return m, fmt.Errorf("read from the child that looks after the container: %w", err)
	case m.Failure != nil:
		return m, m.Failure
	}
	return m, nil
}

// sendRequest sends the Request and waits until the child executes the load, which closes its side of
// the socket.
func sendRequest(rw io.ReadWriter, r Request) error {
	l := newLine(rw)
	if err := l.out.Encode(r); err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	switch m, err := l.receive(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("the child sent %+v instead of executing the load", m)
	}
}
