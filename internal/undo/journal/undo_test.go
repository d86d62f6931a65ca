package journal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func credential(uid, gid uint32) *syscall.Credential {
	return &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{}}
}

// dead writes the journal of a run whose process is gone.
func dead(t testing.TB, dir, run string, change func(*Header), steps ...Step) {
	t.Helper()
	h, err := self(run)
	if err != nil {
		t.Fatal(err)
	}
	h.Start++ // the same pid, but another process
	if change != nil {
		change(&h)
	}
	lines := []line{{Header: &h}}
	for i, s := range steps {
		lines = append(lines, line{Step: text(s), Token: Token(i + 1)})
	}
	if err := os.MkdirAll(journalDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journalFile(dir, run), write(lines), 0o600); err != nil {
		t.Fatal(err)
	}
}

// undone undoes a run and expects no failure.
func undone(t testing.TB, dir, run string) Report {
	t.Helper()
	r, err := Undo(dir, run, kinds)
	if err != nil {
		t.Error(err)
	}
	for _, f := range r.Failed {
		t.Errorf("%+v: %v", f.Step, f.Err)
	}
	return r
}

func TestUndoTornAndHeadless(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	dead(t, dir, "r1", nil, scratch{own}, unknown("ebpf", ""))
	f, err := os.OpenFile(journalFile(dir, "r1"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"step":{"kind":"dir`)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Undo(dir, "r1", kinds)
		if !errors.Is(err, ErrDamaged) || len(r.Failed) != 0 {
			t.Errorf("%+v %v", r, err)
		}
	}
	if err := os.WriteFile(journalFile(dir, "r2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := Leftovers(dir, kinds)
	if err != nil || len(left) != 2 || left[1].Err == nil || left[1].Live || left[1].Header.Run != "r2" {
		t.Errorf("%+v %v", left, err)
	}
	for range 2 {
		if _, err := Undo(dir, "r2", kinds); err == nil || len(files(t, dir)) != 2 {
			t.Errorf("an empty journal: %v, files %v", err, files(t, dir))
		}
	}
}

// A zombie counts as ended.
func TestZombieIsGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	h, err := self("r1")
	if err != nil {
		t.Fatal(err)
	}
	h.Pid = cmd.Process.Pid
	if h.Start, err = startTicks(h.Pid); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); h.alive(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a zombie counts as alive")
		}
	}
}
