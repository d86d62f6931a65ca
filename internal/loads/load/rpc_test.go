package load_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire/counter"
)

func TestMain(m *testing.M) { workloadtest.Main(m) }

func startServer(t testing.TB, addr string) *workloadtest.Process {
	t.Helper()
	p := workloadtest.Start(t, workloadtest.LoadTask(t, load.KindRPCServer, load.RPCServer{Listen: addr}), nil)
	workloadtest.Eventually(t, "answering", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return p
}

func startClient(t testing.TB, p load.RPC, connections int) (*workloadtest.Process, *counter.Memory) {
	t.Helper()
	m := workloadtest.Counters(t, connections)
	c := workloadtest.Start(t, workloadtest.LoadTask(t, load.KindRPC, p), m)
	workloadtest.Eventually(t, "ready", func() bool {
		state, note := m.State()
		if state == counter.Failed {
			t.Fatal(note)
		}
		return state == counter.Ready
	})
	return c, m
}

func read(m *counter.Memory) *counter.Snapshot {
	var s counter.Snapshot
	m.Read(&s)
	return &s
}

// A server that restarts causes errors, and the client continues.
func TestClientsComeBack(t *testing.T) {
	t.Parallel()
	addr := testneed.Address(t)
	server := startServer(t, addr)
	client, m := startClient(t, load.RPC{Dial: addr, RequestBytes: 64, ResponseBytes: 64}, 3)
	server.Signal(t, unix.SIGKILL)
	server.Exit(t)
	workloadtest.Eventually(t, "counting errors", func() bool { return read(m).Errors >= 6 })
	startServer(t, addr)
	ops := m.Ops()
	workloadtest.Eventually(t, "counting again", func() bool { return m.Ops() > ops+100 })
	client.Signal(t, unix.SIGTERM)
	if code := client.Exit(t); code != 0 {
		t.Errorf("ended with %d: %s", code, client.Said())
	}
}

// Requests that arrive while the server stalls wait, and their latency counts from the intended start. A
// closed loop would see one slow request for each connection.
func TestLatencyCountsFromTheIntendedTime(t *testing.T) {
	t.Parallel()
	const rate, stall, connections = 500.0, 600 * time.Millisecond, 2
	addr := testneed.Address(t)
	server := startServer(t, addr)
	_, m := startClient(t, load.RPC{Dial: addr, RequestBytes: 64, ResponseBytes: 64, Rate: rate}, connections)
	m.MarkThaw()
	workloadtest.Eventually(t, "counting", func() bool { return m.Ops() > 100 })
	before := read(m)
	server.Signal(t, unix.SIGSTOP)
	time.Sleep(stall)
	server.Signal(t, unix.SIGCONT)
	workloadtest.Eventually(t, "through with what waited", func() bool { return m.Ops() > before.Ops+uint64(rate*stall.Seconds()) })
	after := read(m)
	// 250 arrivals are expected in the first 500 ms, each 100 ms late or more.
	if h := after.Since(before); h.Quantile(1-100/float64(h.Total())) < 0.1 {
		t.Errorf("fewer than 100 of %d requests waited for 0.1 s, though the server stood still for %v", h.Total(), stall)
	}
	if late := after.Late - before.Late; late < 100 {
		t.Errorf("%d requests were sent late, want more than 100", late)
	}
	if after.Errors != 0 {
		t.Errorf("%d errors", after.Errors)
	}
}

// A pause leaves no backlog: requests of the pause never arrive.
func TestAPauseLeavesNoDebt(t *testing.T) {
	t.Parallel()
	const rate, pause = 1000.0, 3 * time.Second
	addr := testneed.Address(t)
	startServer(t, addr)
	client, m := startClient(t, load.RPC{Dial: addr, RequestBytes: 64, ResponseBytes: 64, Rate: rate}, 2)
	m.MarkThaw()
	workloadtest.Eventually(t, "counting", func() bool { return m.Ops() > 100 })
	client.Signal(t, unix.SIGSTOP)
	time.Sleep(pause)
	before, from := read(m), m.Now()
	m.MarkThaw()
	client.Signal(t, unix.SIGCONT)
	workloadtest.Eventually(t, "counting", func() bool { return m.Ops() > before.Ops+200 })
	after, ran := read(m), time.Duration(m.Now()-from)
	// The schedule has about rate*ran arrivals; a backlog would be 3000 more.
	if got, allowed := float64(after.Ops-before.Ops), rate*ran.Seconds()+500; got > allowed {
		t.Errorf("%g requests in %v after a pause, the rate allows %g", got, ran, allowed)
	}
	// No request since then has waited longer than that, up to the width of a bucket.
	if h := after.Since(before); h.Quantile(1) > 1.05*ran.Seconds() {
		t.Errorf("a latency of %g s within %v after the pause, which is in it", h.Quantile(1), ran)
	}
}

// The server closes connections with a wrong greeting and keeps serving the others.
func TestServerHangsUpOnStrangers(t *testing.T) {
	t.Parallel()
	addr := testneed.Address(t)
	startServer(t, addr)
	_, m := startClient(t, load.RPC{Dial: addr, RequestBytes: 64, ResponseBytes: 64}, 1)
	greet := func(magic, in, out uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, magic)
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, in), out)
	}
	const magic = 0x72657261
	for name, said := range map[string][]byte{
		"another protocol": []byte("GET / HTTP/1.1\r\n\r\n"),
		"huge request":     greet(magic, 1<<31, 64),
		"huge response":    greet(magic, 64, 1<<31),
		"empty":            greet(magic, 0, 0),
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Write(said)
		c.SetReadDeadline(time.Now().Add(time.Minute))
		// A reset is an end too.
		if n, err := io.Copy(io.Discard, c); n != 0 || (err != nil && !strings.Contains(err.Error(), "reset")) {
			t.Errorf("%s: the server answered %d bytes (%v)", name, n, err)
		}
		c.Close()
	}
	ops := m.Ops()
	workloadtest.Eventually(t, "serving", func() bool { return m.Ops() > ops+100 })
	if read(m).Errors != 0 {
		t.Error("the stranger has disturbed the client")
	}
}

// The client reports a server that is not tare's.
func TestClientTellsAnotherServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, strings.Repeat("HTTP/1.1 400 Bad Request\r\n", 20))
		}
	}()
	m := workloadtest.Counters(t, 1)
	p := workloadtest.Start(t, workloadtest.LoadTask(t, load.KindRPC, load.RPC{Dial: l.Addr().String(), RequestBytes: 64, ResponseBytes: 64}), m)
	if code := p.Exit(t); code != 1 || !strings.Contains(p.Said(), "another request") {
		t.Errorf("ended with %d: %s", code, p.Said())
	}
}

func TestCalledWrongly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "tare itself starts this"},
		{[]string{"oltp"}, 2, "tare itself starts this"},
		{[]string{"juggling", "{}"}, 2, `no load "juggling"`},
		{[]string{load.KindRPCServer, "{"}, 1, "parameters"},
		{[]string{load.KindRPCServer, `{"listne":"x"}`}, 1, "listne"},
		{[]string{load.KindCommit, `{}`}, 1, "descriptor 3"},
	} {
		p := workloadtest.Start(t, workload.Task{Args: append([]string{load.Command}, c.args...)}, nil)
		if code := p.Exit(t); code != c.code || !strings.Contains(p.Said(), c.want) {
			t.Errorf("%q ended with %d: %s", c.args, code, p.Said())
		}
	}
}
