package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/undo/journal"
)

// tare no longer has volumes of rbd-fuse. It still undoes the journals of runs that had them: it
// unmounts an image, then removes it.
func TestUndoRBDFuse(t *testing.T) {
	played := play(t, "rbd", "#!/bin/sh\necho \"$@\" >>\"$PLAYED\"\n")
	undoRecorded(t, "rbd-fuse", "gone", 8)
	b, _ := os.ReadFile(played)
	if got := string(b); !strings.HasPrefix(got, "--conf /etc/ceph/ceph.conf") || !strings.HasSuffix(got, "rm --no-progress rbd/tare-tare-gone-arm\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("rbd was asked %q", got)
	}
}

// tare no longer has classes of resctrl. It still removes the class of a run.
func TestUndoClass(t *testing.T) {
	class := filepath.Join(t.TempDir(), "tare-gone-arm")
	if err := os.Mkdir(class, 0o755); err != nil {
		t.Fatal(err)
	}
	undoRecorded(t, "resctrl", "gone", 1, "/sys/fs/resctrl/tare-gone-arm", class)
	if _, err := os.Lstat(class); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the class stays: %v", err)
	}
}

// A journal of the tare that spoke with Docker's daemon is undone through Docker's command line.
func TestUndoDockerOfBefore(t *testing.T) {
	played := play(t, "docker", `#!/bin/sh
echo "$*" >>"$PLAYED"
case $3 in
ps) echo 4e8c ;;
container) echo '[{"State": {"Status": "running"}}]' ;;
esac
`)
	undoRecorded(t, "docker", "r1", 1)
	said, err := os.ReadFile(played)
	for _, want := range []string{
		"--filter label=org.tarelab.tare.run=r1\n", "rm --force --volumes tare-r1-docker\n", "image rm tare-root:tare-r1-docker\n",
	} {
		if !strings.Contains(string(said), want) {
			t.Errorf("%v: not asked %q:\n%s", err, want, said)
		}
	}
}

// play makes a script be a program; the script names the file $PLAYED.
func play(t *testing.T, program, script string) (played string) {
	t.Helper()
	dir := t.TempDir()
	played = filepath.Join(dir, "played")
	t.Setenv("PLAYED", played)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return played
}

// undoRecorded undoes a journal of testdata, which an earlier version wrote, with words replaced.
// The id of this boot takes the place of the one in the journal.
func undoRecorded(t *testing.T, name, run string, steps int, replace ...string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append(replace, "00000000-0000-4000-8000-000000000000", strings.TrimSpace(string(boot)))...).Replace(string(b))
	state := t.TempDir()
	dir := filepath.Join(state, "journal")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, run+".jsonl"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	r, err := journal.Undo(state, run, Steps())
	if err != nil || len(r.Failed) > 0 || len(r.Undone) != steps {
		t.Fatalf("%+v, %v", r, err)
	}
}
