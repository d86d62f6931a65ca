package fio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// kindPrepare writes the files of a job; kind runs the job once for each window.
const (
	kind        = "fio"         // parameters: jobParams
	kindPrepare = "fio-prepare" // parameters: layout
)

// layout are the parameters of fio-prepare.
type layout struct {
	// Dir is the directory of the files.
	Dir string `json:"dir"`
	// Job is the text of a job file; if File is set, the job file of the user at this path counts
	// instead.
	Job  string `json:"job,omitempty"`
	File string `json:"file,omitempty"`
}

// jobParams are the parameters of fio. Dir has fio's files and the job file.
type jobParams struct {
	Dir string `json:"dir"`
	// Values are names of the numbers to report, in the order of counter.AddValue.
	Values []string `json:"values,omitempty"`
}

// fioTrial is the length of the uncounted first run.
const fioTrial = 100 * time.Millisecond

// fioJob is the name of the job file in the data directory.
const fioJob = "tare.fio"

// prepare writes every block of the job's files, so that windows overwrite and read blocks that were
// written before.
func prepare(ctx context.Context, params []byte) error {
	var p layout
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	text := []byte(p.Job)
	if p.File != "" {
		var err error
		if text, err = trust.ReadGiven(p.File); err != nil {
			return hint.New(fmt.Errorf("read the job file: %w", err), "name a job file of fio with job=PATH")
		}
	}
	job, err := tool.ParseJob(text)
	if err != nil {
		return err
	}
	if err := roomFor(job, p.Dir); err != nil {
		return err
	}
	// Standard output goes to raw/ of the result.
	fmt.Printf("%s\n", job.Text())
	if err := os.WriteFile(filepath.Join(p.Dir, fioJob), job.Text(), 0o600); err != nil {
		return fmt.Errorf("keep the job file: %w", err)
	}
	f := &fioRunner{ctx: ctx, dir: p.Dir}
	if _, err := f.findVersion(); err != nil {
		return err
	}
	out, err := f.run(job.LayOut(p.Dir))
	if err != nil {
		return fmt.Errorf("lay out the files: %w", err)
	}
	os.Stdout.Write(out)
	return nil
}

// checkJob returns why a job file could not run.
func checkJob(text []byte) error {
	_, err := tool.ParseJob(text)
	return err
}

// roomFor returns an error if the disk is too small for the files of a job. If the job file does not say
// their size, it returns nil, and fio fails when the disk is full.
func roomFor(job *tool.JobFile, dir string) error {
	need, known := job.Bytes()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("find the free space of %s: %w", dir, err)
	}
	if free := int64(st.Bavail) * st.Bsize; known && need > free {
		return hint.New(fmt.Errorf("the files of the job need %d MiB, %s has %d MiB free: %w", need>>20, dir, free>>20, unix.ENOSPC),
			"make room, a smaller size=, or name another directory with --scratch")
	}
	return nil
}

// Bodies are the loads of this folder, by kind.
func Bodies() map[string]load.Body {
	return map[string]load.Body{kind: load.Counted(run), kindPrepare: prepare}
}

// run runs fio once for each window that tare asks for.
func run(ctx context.Context, m *counter.Memory, params []byte) error {
	var p jobParams
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, fioJob))
	if err != nil {
		return fmt.Errorf("read the job of the data set: %w", err)
	}
	job, err := tool.ParseJob(text)
	if err != nil {
		return err
	}
	f := &fioRunner{ctx: ctx, dir: p.Dir}
	if err := f.findProgram(); err != nil {
		return err
	}
	if err := load.BecomeNobody(p.Dir, f.path); err != nil {
		return err
	}
	version, err := f.findVersion()
	if err != nil {
		return err
	}
	// A first run fails now if the job cannot work here, and loads fio's libraries.
	if _, err := f.measure(job.Window(p.Dir, fioTrial, 0)); err != nil && !errors.Is(err, errFioIdle) && ctx.Err() == nil {
		return err
	}
	settings := []record.Setting{{Name: "fio", Got: version}, {Name: "fio.program", Got: f.path}}
	if err := readback.Write(load.FactsFd, settings); err != nil {
		return err
	}
	m.SetReady()
	for {
		r, ok := m.Next()
		if !ok || ctx.Err() != nil {
			return nil
		}
		if err := f.window(m, r, job, p); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// window runs fio for one request and answers it.
func (f *fioRunner) window(m *counter.Memory, r counter.Request, job *tool.JobFile, p jobParams) error {
	// fio does not report the end of its ramp time, so the window begins by the clock.
	opening := time.AfterFunc(r.Discard, func() { m.BeginWindow(r) })
	w, err := f.measure(job.Window(p.Dir, r.Length, r.Discard))
	if opening.Stop() {
		m.BeginWindow(r)
	}
	if err != nil {
		return err
	}
	m.Slot(0).Add(w.ops, 0, w.latency)
	for i, name := range p.Values {
		if x, ok := w.values[name]; ok {
			m.AddValue(i, x)
		}
	}
	m.Answer(r, counter.Answer{Seconds: w.seconds})
	return nil
}

// measure runs a job and reads fio's report. It copies the report to standard output, which goes to
// raw/ of the result.
func (f *fioRunner) measure(job []byte) (fioWindow, error) {
	out, err := f.run(job)
	if err != nil {
		return fioWindow{}, err
	}
	os.Stdout.Write(out)
	return readFio(out)
}

// fioRunner runs fio in a directory.
type fioRunner struct {
	ctx  context.Context
	dir  string
	path string
}

// findProgram finds fio in PATH.
func (f *fioRunner) findProgram() (err error) {
	if f.path, err = exec.LookPath(tool.Program); err != nil {
		return hint.New(fmt.Errorf("find fio: %w", err), "install it: apt-get install fio")
	}
	return nil
}

// findVersion finds fio and returns its version.
func (f *fioRunner) findVersion() (version string, err error) {
	if err := f.findProgram(); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(f.ctx, f.path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", f.path, err)
	}
	return tool.Identify(string(out))
}

// stopTimeout is how long fio may take to end after SIGTERM.
const stopTimeout = 2 * time.Second

// run runs a job to its end and returns fio's output file.
func (f *fioRunner) run(job []byte) ([]byte, error) {
	in, err := memfd.Create("tare-fio-job", job)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := memfd.Create("tare-fio-output", nil)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	var printed bytes.Buffer
	cmd := exec.CommandContext(f.ctx, f.path, "--output-format=json+", "--output="+load.Inherited(4), "--eta=never", load.Inherited(3))
	cmd.Dir, cmd.ExtraFiles = f.dir, []*os.File{in, out}
	cmd.Stdout, cmd.Stderr = &printed, &printed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	err = child.Run(cmd)
	if f.ctx.Err() != nil {
		return nil, f.ctx.Err()
	}
	if err != nil {
		return nil, f.withHint(err, printed.String())
	}
	b, err := os.ReadFile(load.Inherited(int(out.Fd())))
	if err != nil {
		return nil, fmt.Errorf("read fio's output: %w", err)
	}
	return b, nil
}

// withHint adds fio's last lines to an error, and a remedy if it knows the cause.
func (f *fioRunner) withHint(err error, printed string) error {
	err = fmt.Errorf("fio: %w%s", err, load.LastLines([]byte(printed)))
	switch {
	case strings.Contains(printed, "Operation not permitted") && strings.Contains(printed, "io_uring"):
		return hint.New(err, "the security profile of a container forbids io_uring: engine=libaio")
	case strings.Contains(printed, "No space left"):
		return hint.New(err, "make room, or a smaller size=")
	case strings.Contains(printed, "Invalid argument") && strings.Contains(printed, "O_DIRECT"):
		return hint.New(err, "this file system has no direct I/O: direct=off")
	}
	return err
}
