package foreign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// TestMain runs the child.
func TestMain(m *testing.M) {
	if code, ok := hidden.Run(Roles(), os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// protocols are those of all databases.
func protocols() (all []string) {
	for _, p := range []string{"mysql", "postgres", "redis", "clickhouse"} {
		if _, err := databases.Protocol(p); err != nil {
			panic(err)
		}
		all = append(all, p)
	}
	return all
}

// rogue listens on loopback. answer gets each connection; sent counts what the other side took.
func rogue(t testing.TB, answer func(io.ReadWriter)) (address string, sent *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	sent = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				answer(&tally{c, sent})
			}()
		}
	}()
	return l.Addr().String(), sent
}

type tally struct {
	net.Conn
	sent *atomic.Int64
}

func (c *tally) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// question is one that every server of a protocol answers.
func question(protocol string) string {
	if protocol == "redis" {
		return "CONFIG GET maxmemory"
	}
	return "SELECT 1"
}

// asked asks a server and returns the error, the child's largest memory in bytes and its bytes read.
func asked(t testing.TB, s Server) (rows [][]string, memory int64, err error) {
	t.Helper()
	c, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	rows, err = c.Ask(t.Context(), question(s.Protocol))
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	usage, _ := c.command.ProcessState.SysUsage().(*syscall.Rusage)
	return rows, usage.Maxrss << 10, err
}

// buffers is what the kernel of both sides may hold of a connection beyond what is read.
const buffers = 32 << 20

// repeat writes a piece again and again.
func repeat(c io.Writer, piece []byte) {
	for {
		if _, err := c.Write(piece); err != nil {
			return
		}
	}
}

// packet is a packet of MySQL.
func packet(seq byte, body []byte) []byte {
	n := len(body)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}, body...)
}

// message is a message of PostgreSQL.
func message(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// greeting is MySQL's, and okay the answer to a login.
var (
	greeting = packet(0, append([]byte("\x0a8.0.36\x00\x01\x00\x00\x00abcdefgh\x00"), append([]byte{0x0f, 0xa2, 45, 2, 0, 0xff, 0xc0, 21}, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00ijklmnopqrst\x00mysql_native_password\x00")...)...))
	okay     = packet(2, []byte{0, 0, 0, 2, 0, 0, 0})
)

// loggedIn greets as a server of MySQL and lets everybody in, until a question has come.
func loggedIn(c io.ReadWriter) {
	_, _ = c.Write(greeting)
	heard(c)
	_, _ = c.Write(okay)
	heard(c)
}

// heard reads what has come.
func heard(c io.Reader) { _, _ = c.Read(make([]byte, 1<<16)) }

// ready begins as a server of PostgreSQL, until a question has come.
func ready(c io.ReadWriter) {
	heard(c)
	_, _ = c.Write(append(message('R', []byte{0, 0, 0, 0}), message('Z', []byte{'I'})...))
	heard(c)
}

// hostile are answers without end, announcements of more than there is memory, and what makes drivers panic.
var hostile = map[string]map[string]func(io.ReadWriter){
	"mysql": {
		"endless":             func(c io.ReadWriter) { repeat(c, bytes.Repeat([]byte{0xff}, 1<<16)) },
		"one endless message": func(c io.ReadWriter) { repeat(c, packet(0, make([]byte, 1<<24-1))) },
		"endless columns": func(c io.ReadWriter) {
			loggedIn(c)
			_, _ = c.Write(packet(1, []byte{0xfd, 0xff, 0xff, 0x7f}))
			repeat(c, packet(2, make([]byte, 24)))
		},
		"columns announced": func(c io.ReadWriter) {
			loggedIn(c)
			_, _ = c.Write(packet(1, append([]byte{0xfe}, 0, 0, 0, 0x20, 0, 0, 0, 0)))
		},
		"more columns announced": func(c io.ReadWriter) { loggedIn(c); _, _ = c.Write(packet(1, bytes.Repeat([]byte{0xfe}, 9))) },
		"short greeting":         func(c io.ReadWriter) { _, _ = c.Write(packet(0, []byte{10})) },
		"endless rows": func(c io.ReadWriter) {
			loggedIn(c)
			_, _ = c.Write(packet(1, []byte{1}))
			_, _ = c.Write(packet(2, append([]byte("\x03def\x00\x00\x00\x01a\x00\x0c"), 45, 0, 255, 0, 0, 0, 253, 0, 0, 0, 0, 0)))
			_, _ = c.Write(packet(3, []byte{0xfe, 0, 0, 2, 0}))
			for seq := byte(4); ; seq++ {
				if _, err := c.Write(packet(seq, []byte{1, 'x'})); err != nil {
					return
				}
			}
		},
	},
	"postgres": {
		"endless":                     func(c io.ReadWriter) { repeat(c, bytes.Repeat(message('N', make([]byte, 1<<10)), 64)) },
		"announced 2 GiB":             func(c io.ReadWriter) { _, _ = c.Write([]byte{'R', 0x7f, 0xff, 0xff, 0xff}); heard(c) },
		"announced less than nothing": func(c io.ReadWriter) { _, _ = c.Write([]byte{'S', 0, 0, 0, 1}) },
		"short description":           func(c io.ReadWriter) { ready(c); _, _ = c.Write(message('T', []byte{0})) },
		"columns below zero":          func(c io.ReadWriter) { ready(c); _, _ = c.Write(message('T', []byte{0x80, 0})) },
		"rows of nothing": func(c io.ReadWriter) {
			ready(c)
			_, _ = c.Write(message('T', []byte{0, 0}))
			repeat(c, bytes.Repeat(message('D', []byte{0, 0}), 4096))
		},
		"columns that are not there": func(c io.ReadWriter) {
			ready(c)
			_, _ = c.Write(message('T', append([]byte("\x00\x01a\x00"), make([]byte, 18)...)))
			_, _ = c.Write(message('D', []byte{0, 9, 0x7f, 0xff, 0xff, 0xff}))
		},
	},
	"redis": {
		"endless": func(c io.ReadWriter) { repeat(c, bytes.Repeat([]byte("+OK"), 1<<14)) },
		"endless array": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("+OK\r\n*536870912\r\n"))
			repeat(c, bytes.Repeat([]byte(":1\r\n"), 4096))
		},
		"announced": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("+OK\r\n$536870912\r\n"))
			repeat(c, make([]byte, 1<<16))
		},
		"nested": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("+OK\r\n"))
			repeat(c, bytes.Repeat([]byte("*2\r\n"), 4096))
		},
	},
	"clickhouse": {
		"endless": func(c io.ReadWriter) { heard(c); repeat(c, bytes.Repeat([]byte("HTTP/1.1 "), 1<<12)) },
		"endless header": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nX: "))
			repeat(c, bytes.Repeat([]byte("x"), 1<<16))
		},
		"many headers": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\n"))
			repeat(c, bytes.Repeat([]byte("X: y\r\n"), 1<<12))
		},
		"endless body": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
			repeat(c, make([]byte, 1<<16))
		},
		"endless rows": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
			repeat(c, bytes.Repeat([]byte("\n"), 1<<16))
		},
		"announced": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"))
			repeat(c, bytes.Repeat([]byte("a\tb\n"), 1<<14))
		},
		"endless chunks": func(c io.ReadWriter) {
			heard(c)
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
			repeat(c, bytes.Repeat([]byte("1\r\n\t\r\n"), 1<<12))
		},
	},
}

// A server whose answers have no end, or announce more than there is memory, costs a bounded number of bytes and of
// memory, and is an error of one line.
func TestHostileServers(t *testing.T) {
	for _, protocol := range protocols() {
		for name, answer := range hostile[protocol] {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				t.Parallel()
				address, sent := rogue(t, answer)
				rows, memory, err := asked(t, Server{Protocol: protocol, User: "u", Network: "tcp", Address: address})
				var e *Error
				if !errors.As(err, &e) || strings.Contains(e.Text, "\n") || e.Denied || len(e.Text) > longestError {
					t.Errorf("%d rows, %v", len(rows), err)
				}
				if sent.Load() > maxBytes+buffers || memory > maxMemory+64<<20 {
					t.Errorf("%d bytes sent, %d MiB of memory", sent.Load(), memory>>20)
				}
				t.Logf("%v; %d MiB of memory", err, memory>>20)
			})
		}
	}
}

// A server that never answers ends with the budget's time.
func TestSilentServer(t *testing.T) {
	for _, protocol := range protocols() {
		address, _ := rogue(t, func(c io.ReadWriter) { _, _ = io.Copy(io.Discard, c) })
		a := asker{server: Server{Protocol: protocol, User: "u", Network: "tcp", Address: address}, budget: newBudget(maxBytes, 100*time.Millisecond)}
		if r := a.reply(question(protocol)); r.Err != errTime.Error() {
			t.Errorf("%s: %+v", protocol, r)
		}
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}

// Whatever a server answers, there are rows or an error of one line: a driver that panics is an error.
func TestGeneratedAnswers(t *testing.T) {
	var pieces atomic.Pointer[[][]byte]
	address, _ := rogue(t, func(c io.ReadWriter) {
		for _, p := range *pieces.Load() {
			if _, err := c.Write(p); err != nil {
				return
			}
		}
	})
	starts := map[string][][]byte{
		"mysql": {greeting, okay}, "postgres": {nil, append(message('R', []byte{0, 0, 0, 0}), message('Z', []byte{'I'})...)},
		"redis": {[]byte("+OK\r\n")}, "clickhouse": {[]byte("HTTP/1.1 200 OK\r\n")},
	}
	rapid.Check(t, func(r *rapid.T) {
		protocol := rapid.SampledFrom(protocols()).Draw(r, "protocol")
		all := [][]byte{}
		if rapid.Bool().Draw(r, "begins well") {
			all = append(all, starts[protocol]...)
		}
		for i := range rapid.IntRange(1, 4).Draw(r, "messages") {
			body := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(r, "body")
			switch protocol {
			case "mysql":
				body = packet(byte(i+1), body)
			case "postgres":
				body = message(rapid.SampledFrom([]byte("RSKZTDCEN12tA")).Draw(r, "kind"), body)
			}
			all = append(all, body)
		}
		pieces.Store(&all)
		a := asker{server: Server{Protocol: protocol, User: "u", Network: "tcp", Address: address}, budget: newBudget(maxBytes, maxTime)}
		reply := a.reply(question(protocol))
		if a.conn != nil {
			_ = a.conn.Close()
		}
		if strings.ContainsFunc(reply.Err, unicode.IsControl) || len(reply.Err) > longestError {
			r.Errorf("%q", reply.Err)
		}
	})
}

// A password goes neither in clear to another address nor into an error that a server makes of it.
func TestPasswords(t *testing.T) {
	address, _ := rogue(t, func(c io.ReadWriter) {
		heard(c)
		_, _ = c.Write(message('R', []byte{0, 0, 0, 3}))
		said := make([]byte, 100)
		n, _ := c.Read(said)
		_, _ = c.Write(message('E', fmt.Appendf(nil, "SFATAL\x00C28P01\x00Mno %s\x00\x00", bytes.Trim(said[5:max(5, n)], "\x00"))))
	})
	_, _, err := asked(t, Server{Protocol: "postgres", User: "u", Secret: "gehe1m", Network: "tcp", Address: address})
	var e *Error
	if !errors.As(err, &e) || !e.Denied || strings.Contains(e.Text, "gehe1m") || !strings.Contains(e.Text, "no (the password)") {
		t.Errorf("%v", err)
	}
	elsewhere := outside(t)
	for _, protocol := range protocols() {
		l, err := net.Listen("tcp", net.JoinHostPort(elsewhere, "0"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		heardAll := make(chan []byte, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all, _ := io.ReadAll(c)
			heardAll <- all
		}()
		_, _, err = asked(t, Server{Protocol: protocol, User: "u", Secret: "gehe1m", Network: "tcp", Address: l.Addr().String()})
		if !errors.As(err, &e) || !e.Clear {
			t.Errorf("%s: %v", protocol, err)
		}
		if got := <-heardAll; len(got) > 0 {
			t.Errorf("%s: %q left this host", protocol, got)
		}
	}
}

// outside is an address of this host that is not loopback.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this host has loopback alone")
	return ""
}
