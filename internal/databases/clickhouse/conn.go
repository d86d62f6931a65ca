package clickhouse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Conn is one persistent connection to ClickHouse's HTTP interface, for one goroutine at a time. It
// has no pool and no retries, so the latency of a query is that of one request.
type Conn struct {
	conn   net.Conn
	reader *bufio.Reader
	target string // path and parameters in the URL of requests
	head   []byte // header lines of requests
	buffer []byte
	broken bool // takes no more queries
}

// Error is the server's answer to a query that failed.
type Error struct {
	Code int // ClickHouse's code; 0: unknown
	Text string
}

func (e *Error) Error() string { return e.Text }

// Formats of answers.
const (
	// formatNative is the format of ClickHouse's own client.
	formatNative = "Native"
	formatLines  = "TabSeparated"
)

// Dial connects to a server.
func Dial(ctx context.Context, a db.Address) (*Conn, error) {
	conn, err := dial(ctx, a)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, reader: bufio.NewReaderSize(conn, 1<<16), buffer: make([]byte, 1<<16), target: "/?"}
	if a.Database != "" {
		c.target += "database=" + url.QueryEscape(a.Database) + "&"
	}
	// The password goes into a header, because servers log the address.
	c.head = fmt.Appendf(nil, "Host: %s\r\nX-ClickHouse-User: %s\r\nX-ClickHouse-Key: %s\r\n", a.Dial, a.User, a.Secret)
	return c, nil
}

func dial(ctx context.Context, a db.Address) (net.Conn, error) {
	if a.Way != nil {
		return a.Way.Connect(ctx)
	}
	d := net.Dialer{Timeout: db.ConnectBound, KeepAlive: -1}
	return d.DialContext(ctx, "tcp", a.Dial)
}

// Close closes the connection, which wakes a goroutine that waits for an answer.
func (c *Conn) Close() error { return c.conn.Close() }

// Broken is true if the connection takes no more queries.
func (c *Conn) Broken() bool { return c.broken }

// Run sends a query and reads the whole answer. The error is an *Error if the query failed on the
// server; after any other error the connection is broken.
func (c *Conn) Run(query string) error { return c.ask(query, formatNative, io.Discard) }

// ask sends a query and writes the answer to w, in this format unless the query names another one.
func (c *Conn) ask(query, format string, w io.Writer) error {
	err := c.exchange(query, format, w)
	var answer *Error
	if err != nil && !errors.As(err, &answer) {
		c.broken = true
	}
	return err
}

// exchange sends one request and reads its response.
func (c *Conn) exchange(query, format string, w io.Writer) error {
	request := fmt.Appendf(nil, "POST %sdefault_format=%s HTTP/1.1\r\n", c.target, format)
	request = append(request, c.head...)
	request = fmt.Appendf(request, "Content-Length: %d\r\n\r\n%s", len(query), query)
	if _, err := c.conn.Write(request); err != nil {
		return fmt.Errorf("send a query: %w", err)
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return fmt.Errorf("receive an answer: %w", db.ClosedEarly(err))
	}
	defer answer.Body.Close()
	if answer.Close {
		c.broken = true
	}
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		if err != nil {
			return fmt.Errorf("receive an answer: %w", err)
		}
		return errorOf(answer, text)
	}
	return c.body(answer, w)
}

// exceptionInside is in the error message that the server appends to an answer when the query fails
// after the answer has begun.
var exceptionInside = []byte("DB::Exception: ")

// body copies the answer to w. A query can fail after its answer has begun: the server then appends the
// error message, and newer versions also break the answer off.
func (c *Conn) body(answer *http.Response, w io.Writer) error {
	const longest = 1 << 12
	var last []byte // end of the answer, at most 2 * longest
	for {
		n, err := answer.Body.Read(c.buffer)
		piece := c.buffer[:n]
		if _, werr := w.Write(piece); werr != nil {
			return werr
		}
		last = append(last, piece[max(0, n-longest):]...)
		last = last[max(0, len(last)-longest):]
		if err == nil {
			continue
		}
		if i := bytes.LastIndex(last, []byte("Code: ")); i >= 0 && bytes.Contains(last[i:], exceptionInside) {
			c.broken = true
			return errorOf(answer, last[i:])
		}
		if err != io.EOF {
			return fmt.Errorf("receive an answer: %w", db.ClosedEarly(err))
		}
		return nil
	}
}

// errorOf makes an *Error of the server's message. Old versions have the code only in the message.
func errorOf(answer *http.Response, text []byte) error {
	e := &Error{Text: strings.TrimSpace(strings.ToValidUTF8(string(text), "?"))}
	if e.Text == "" {
		e.Text = answer.Status
	}
	code := answer.Header.Get("X-ClickHouse-Exception-Code")
	if after, found := strings.CutPrefix(e.Text, "Code: "); found && code == "" {
		code = after[:max(0, strings.IndexAny(after, ",."))]
	}
	e.Code, _ = strconv.Atoi(code)
	e.Text, _, _ = strings.Cut(e.Text, ", Stack trace")
	e.Text = strings.TrimSuffix(e.Text, ", e.what() = DB::Exception")
	e.Text = e.Text[:min(len(e.Text), 1000)]
	return e
}

// Protocol is the client for ClickHouse's HTTP interface.
func (Service) Protocol() db.Protocol {
	return db.Protocol{Connect: connect, Ready: "SELECT 42", Answer: "42", Definite: definite, Denied: denied}
}

func connect(a db.Address) (db.Conn, error) {
	return db.Redial(func(ctx context.Context) (db.Link, error) {
		conn, err := Dial(ctx, a)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}), checkAddress(a)
}

// SetDeadline sets the deadline of the current query and the next ones.
func (c *Conn) SetDeadline(t time.Time) error { return c.conn.SetDeadline(t) }

// Ask sends a query and returns the rows of its answer.
func (c *Conn) Ask(query string) (rows [][]string, err error) {
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\'`, "'", `\b`, "\b", `\f`, "\f", `\r`, "\r", `\0`, "\x00")
	var out bytes.Buffer
	if err := c.ask(query, formatLines, &out); err != nil {
		return nil, err
	}
	for line := range strings.Lines(out.String()) {
		var row []string
		for _, f := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if f == `\N` {
				row = append(row, "")
			} else {
				row = append(row, unescape.Replace(f))
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// denied is true if the server refuses user or password. Newer versions have one code for both.
func denied(err error) bool {
	const unknownUser, wrongPassword, authenticationFailed = 192, 193, 516
	var answer *Error
	return errors.As(err, &answer) && (answer.Code == unknownUser || answer.Code == wrongPassword || answer.Code == authenticationFailed)
}

// definite is true for an error that a second try would not change: any error of the server, unless it
// has too many queries or is shutting down.
func definite(err error) bool {
	const tooManyQueries, aborted = 202, 236
	var answer *Error
	return errors.As(err, &answer) && answer.Code != tooManyQueries && answer.Code != aborted
}

var errNoAddress = errors.New("ClickHouse is reached by TCP only, and no address was given")

// checkAddress returns an error if the address has no TCP part.
func checkAddress(a db.Address) error {
	if a.Protocol == Name && a.Dial == "" {
		return errNoAddress
	}
	return nil
}
