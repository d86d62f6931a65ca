package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Error is why a question has no answer.
type Error struct {
	Text string
	// Denied is true if the server refuses user or password.
	Denied bool
	// Clear is true if the connection leaves this host without TLS, so that no password may be sent.
	Clear bool
}

func (e *Error) Error() string { return e.Text }

// Conn is a db.Conn whose connection is in a child process.
type Conn struct {
	command   *exec.Cmd
	stop      context.CancelFunc
	questions *json.Encoder
	replies   *json.Decoder
	input     io.Closer
	stderr    ending
	begun     time.Time
}

var _ db.Conn = (*Conn)(nil)

// maxReplies bounds the replies of a child in bytes: JSON can take several bytes for one.
const maxReplies = 2 * maxBytes

// environment are the variables that decide where the system's certificates are.
var environment = []string{"SSL_CERT_FILE", "SSL_CERT_DIR"}

// Open starts the child. It connects at the first question.
func Open(ctx context.Context, s Server) (*Conn, error) {
	ctx, stop := context.WithTimeout(ctx, maxTime+time.Second)
	c := &Conn{stop: stop, begun: time.Now()}
	c.command = exec.CommandContext(ctx, "/proc/self/exe", hiddenCommand)
	c.command.Env = slices.DeleteFunc(os.Environ(), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return !slices.Contains(environment, name)
	})
	c.command.Stderr = &c.stderr
	in, err := c.command.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err == nil {
		err = c.command.Start()
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("start the process that asks the server: %w", err)
	}
	c.input, c.questions, c.replies = in, json.NewEncoder(in), json.NewDecoder(io.LimitReader(out, maxReplies))
	if err := c.questions.Encode(s); err != nil {
		return nil, errors.Join(fmt.Errorf("start the process that asks the server: %w", err), c.Close())
	}
	return c, nil
}

// Ask asks the server. An error is an *Error.
func (c *Conn) Ask(_ context.Context, question string) ([][]string, error) {
	var r reply
	if c.questions.Encode(question) != nil || c.replies.Decode(&r) != nil {
		return nil, c.ended()
	}
	if r.Err != "" {
		return nil, &Error{r.Err, r.Denied, r.Clear}
	}
	return r.Rows, nil
}

// ended is the error of a child that ended without a reply.
func (c *Conn) ended() error {
	_ = c.Close() // stderr is complete then
	text := "the process that asked the server ended"
	switch {
	case time.Since(c.begun) >= maxTime:
		text = errTime.Error()
	case bytes.Contains(c.stderr.first, []byte("memory")):
		text = fmt.Sprintf("the answer would take more than %d MiB of memory", maxMemory>>20)
	case bytes.HasPrefix(c.stderr.first, []byte("panic: ")):
		text = "the answer does not follow the protocol of the server"
	case c.command.ProcessState != nil:
		text += ": " + c.command.ProcessState.String()
	}
	return &Error{Text: text}
}

// Close ends the child.
func (c *Conn) Close() error {
	_ = c.input.Close()
	c.stop()
	var exit *exec.ExitError
	if err := c.command.Wait(); err != nil && !errors.As(err, &exit) && c.command.ProcessState == nil {
		return err
	}
	return nil
}

// ending keeps the beginning of what a child writes to standard error.
type ending struct{ first []byte }

func (e *ending) Write(p []byte) (int, error) {
	const most = 4096
	e.first = append(e.first, p[:min(len(p), most-len(e.first))]...)
	return len(p), nil
}
