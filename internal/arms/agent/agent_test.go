package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/unixsock"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/outside/dirtar"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		// Orphans become the agent's children, as in a pod.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if code, ok := hidden.Run(Roles(), os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case inPod:
			if err := errors.Join(namespace.Private(), namespace.Proc()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			code, _ := hidden.Run(Roles(), append([]string{Command}, os.Args[3:]...))
			os.Exit(code)
		case impatient:
			conn, err := unixsock.AcceptOne(os.Args[2], time.Minute)
			if err == nil {
				err = serve(conn, impatience)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case load.Command:
			os.Exit(bodies.Main(os.Args[2:]))
		case saysEnvironment:
			fmt.Print(strings.Join(os.Environ(), "\n"))
			os.Exit(0)
		case shell:
			fmt.Fprintln(os.Stderr, unix.Exec("/bin/sh", []string{"sh", "-c", os.Args[2]}, os.Environ()))
			os.Exit(1)
		case startsPrograms:
			for range 3 {
				go func() {
					for {
						_ = exec.Command("/bin/true").Run()
					}
				}()
			}
			select {}
		}
	}
	os.Exit(m.Run())
}

// Roles of the test binary, by its first argument.
const (
	inPod           = "__in-pod"      // an agent in a mount namespace of its own, whose /proc is that of its pid namespace
	impatient       = "__impatient"   // an agent that does not wait long for a beat
	saysEnvironment = "__environment" // what prints its environment
	shell           = "__shell"       // a shell that runs a script
	startsPrograms  = "__starts"      // what starts programs all the time, in several threads
)

// impatience is how long the agent of that role waits for a heartbeat.
const impatience = 50 * time.Millisecond

// pod is an agent as in a remote pod, without namespaces: its two processes and the stream.
type pod struct {
	*Link
	data          string // which the agent removes in the end
	agent, joined *exec.Cmd
	lost          int // how often it was asked what became of it
}

func newPod(t *testing.T) *pod {
	t.Helper()
	p := &pod{data: filepath.Join(t.TempDir(), "data")}
	if err := os.Mkdir(p.data, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "ask")
	p.agent = exec.Command(selfPath, Args(socket, p.data)...)
	p.agent.Stderr = os.Stderr
	p.joined = exec.Command(selfPath, JoinArgs(socket)...)
	in, err := p.joined.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.joined.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*exec.Cmd{p.agent, p.joined} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	p.Link, err = Connect(t.Context(), in, out, func() environment.Exit {
		p.lost++
		return environment.Exit{Code: -1, Err: errors.New("the pod is gone")}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if err := p.agent.Wait(); err != nil && p.lost == 0 {
			t.Errorf("the agent did not end in order: %v", err)
		}
		if _, err := os.Stat(p.data); err == nil && p.agent.ProcessState.Exited() {
			t.Error("the agent left the data behind")
		}
		p.joined.Wait()
	})
	return p
}

// startLoad starts a load and waits until it is ready.
func (p *pod) startLoad(t *testing.T, threads int) (*Process, *counter.Memory, *os.File) {
	t.Helper()
	memory, err := counter.Create(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	said, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { said.Close() })
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	started, err := p.Start(t.Context(), environment.Process{
		Args: []string{load.Command, load.KindSpin, `{"rounds":1000}`}, Files: []*os.File{memory.File(), said}, Log: log,
	}, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for state := counter.Starting; state != counter.Ready; state, _ = memory.State() {
		if environment.Ended(started) {
			t.Fatalf("%+v", started.Exit())
		}
		time.Sleep(time.Millisecond)
	}
	return started, memory, log
}

// working measures until the load has operations in all parts of a window: on a busy host it may get no
// CPU for a while.
func (p *pod) working(t *testing.T, v wire.WindowSpec) wire.Sample {
	t.Helper()
	for range 200 {
		w, err := p.Measure(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if w.Ops > 0 && w.First > 0 && (v.Steady == 0 || w.SteadyRate > 0) {
			return w
		}
	}
	t.Fatal("the load does nothing")
	return wire.Sample{}
}

// TestMeasure checks that a sample has the operations of its window, and that the load counts none between
// windows.
func TestMeasure(t *testing.T) {
	p := newPod(t)
	p.startLoad(t, 2)
	begun := sched.Monotonic()
	w := p.working(t, wire.WindowSpec{Discard: 10 * time.Millisecond, Length: 60 * time.Millisecond, Steady: 30 * time.Millisecond})
	if w.First > w.Ops || w.Seconds < 0.06 || w.FirstSeconds < 0.03 {
		t.Errorf("%+v", w)
	}
	if n := w.Latency.Total() + w.Cut; n < w.Ops { // the counters are read around the marks, and the probes between
		t.Errorf("%d latencies of %d operations", n, w.Ops)
	}
	if off := int64(p.Clock().Trip); w.Start < begun-off || w.Start > sched.Monotonic()+off {
		t.Errorf("the window began at %d, it is between %d and now", w.Start, begun)
	}
	if trip := p.Clock().Trip; trip <= 0 {
		t.Errorf("a round trip took %v", trip)
	}
	if v := w.Probes["cpu.steal"]; v.Reason().IsZero() || !strings.Contains(said.English(v.Reason()), "--node-helper") {
		t.Errorf("what only the node shows: %+v", v)
	}
	first, err := p.Measure(t.Context(), wire.WindowSpec{Length: 50 * time.Millisecond, Tick: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Ticks) != 5 {
		t.Errorf("%v", first.Ticks)
	}
	time.Sleep(50 * time.Millisecond)
	later, err := p.Measure(t.Context(), wire.WindowSpec{Length: 10 * time.Millisecond, Tick: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if later.Cut > 2 { // one of each thread, where it got no CPU for as long as a pause waits
		t.Errorf("%d operations were in flight over a pause", later.Cut)
	}
	watched, err := p.Watch(t.Context(), wire.WindowSpec{Length: 20 * time.Millisecond})
	if _, ok := watched.Probes["cpu.time"].Get(); err != nil || !ok {
		t.Errorf("%v %v", watched.Probes["cpu.time"], err)
	}
	if trial, on, err := p.Try(t.Context()); err != nil || trial.Syncs == 0 || trial.Median <= 0 || len(trial.Devices) != len(on.Devices) || on.Mount.Type == "" {
		t.Errorf("%+v %+v %v", trial, on, err)
	}
	seen, err := p.Look(t.Context())
	if err != nil || len(seen.Process) == 0 || len(seen.Volume) == 0 {
		t.Errorf("%+v %v", seen, err)
	}
}

// TestEnds starts one process after the other and checks how each ends, and its log.
func TestEnds(t *testing.T) {
	p := newPod(t)
	started, _, _ := p.startLoad(t, 1)
	if err := started.Kill(); err != nil {
		t.Fatal(err)
	}
	<-started.Done()
	if want := (environment.Exit{Code: -1, Signal: "SIGKILL"}); started.Exit() != want {
		t.Errorf("%+v, want %+v", started.Exit(), want)
	}
	if _, err := p.Measure(t.Context(), wire.WindowSpec{Length: time.Second}); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a window of a load that has ended: %v", err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	wrong, err := p.Start(t.Context(), environment.Process{Args: []string{load.Command, "nonsense", "{}"}, Log: log}, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	<-wrong.Done()
	if want := (environment.Exit{Code: 2}); wrong.Exit() != want {
		t.Errorf("%+v, want %+v", wrong.Exit(), want)
	}
	if said, _ := os.ReadFile(log.Name()); !strings.Contains(string(said), "nonsense") {
		t.Errorf("its log: %q", said)
	}
	p.startLoad(t, 1) // the next one is led
	p.working(t, wire.WindowSpec{Length: 20 * time.Millisecond})
	if p.lost != 0 {
		t.Errorf("asked %d times what became of the pod", p.lost)
	}
}

// TestFails checks that the reason of a load that gives up arrives.
func TestFails(t *testing.T) {
	p := newPod(t)
	memory, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	wrong, err := p.Start(t.Context(), environment.Process{Args: []string{load.Command, load.KindSpin, `{"rounds":0}`}, Files: []*os.File{memory.File()}}, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	<-wrong.Done()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if state, note := memory.State(); state == counter.Failed {
			if !strings.Contains(note, "rounds 0") {
				t.Errorf("it gave up for %q", note)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("it does not say that it gave up")
		}
	}
}

// TestStreamBreaks cuts the stream: all processes of the pod end, an open window ends, and processes have
// the exit that lost returns.
func TestStreamBreaks(t *testing.T) {
	p := newPod(t)
	started, _, _ := p.startLoad(t, 1)
	over := make(chan error)
	go func() {
		_, err := p.Measure(context.WithoutCancel(t.Context()), wire.WindowSpec{Length: time.Minute})
		over <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := p.joined.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-over; !errors.Is(err, ErrBroken) {
		t.Errorf("the window: %v", err)
	}
	<-started.Done()
	if e := started.Exit().Err; e == nil || e.Error() != "the pod is gone" || p.lost != 1 {
		t.Errorf("%v, asked %d times", e, p.lost)
	}
	if err := p.agent.Wait(); err != nil {
		t.Errorf("the agent did not end in order: %v", err)
	}
	if _, err := p.Start(t.Context(), environment.Process{}, "/", nil); !errors.Is(err, ErrBroken) {
		t.Errorf("after that: %v", err)
	}
}

// TestFill checks that a directory arrives as it was sent.
func TestFill(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(filepath.Join(from, "file"), []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := dirtar.Write(&b, from); err != nil {
		t.Fatal(err)
	}
	if err := fill(&b, to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "file")); err != nil || string(got) != "words" {
		t.Errorf("%q %v", got, err)
	}
	if err := fill(strings.NewReader("not an archive"), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("made a directory of what is no archive")
	}
}

// A request that waits, for a volume that hangs, does not delay the next one.
func TestLookDoesNotHoldTheOthers(t *testing.T) {
	said, says := io.Pipe()
	a := &agent{}
	a.encoder.Encoder = json.NewEncoder(says)
	a.mu.Lock() // as a volume that hangs
	go func() {
		a.execute(request{Number: 1, Look: true}, nil)
		a.execute(request{Number: 2}, nil)
	}()
	heard := make(chan int)
	go func() {
		for d := json.NewDecoder(said); ; {
			var e event
			if d.Decode(&e) != nil {
				return
			}
			heard <- e.Number
		}
	}()
	for _, want := range []int{2, 1} {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("%d was answered, want %d", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%d is not answered", want)
		}
		if want == 2 {
			a.mu.Unlock()
		}
	}
	said.Close()
}
