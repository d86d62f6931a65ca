package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowDocker plays the program of a Docker whose daemon was asked for an image by a client
// that was killed: the daemon has the image when the third removal asks for it.
const slowDocker = `#!/bin/sh
shift 2 # --host ADDRESS
case $1-$2 in
ps-*) ;;
image-rm)
	echo "$3" >>"$PLAYED"
	[ "$(wc -l <"$PLAYED")" = 3 ] && exit
	echo "Error response from daemon: No such image: $3" >&2
	exit 1 ;;
*)
	echo "Error response from daemon: No such container: $3" >&2
	exit 1 ;;
esac
`

// What a busy daemon makes when its client has been killed is removed too.
func TestUndoLateImage(t *testing.T) {
	played := playDocker(t, slowDocker)
	if err := removeContainer(Engine("docker", "unix:///none", "tare-r1-docker"), "r1", time.Now().Add(lateBound)); err != nil {
		t.Fatal(err)
	}
	const removals = "tare-root:tare-r1-docker\ntare-root:tare-r1-docker\ntare-root:tare-r1-docker\n"
	if b, err := os.ReadFile(played); err != nil || len(b) < len(removals) || string(b[:len(removals)]) != removals {
		t.Errorf("the image stays: %q, %v", b, err)
	}
}

// playDocker has a script be the program docker, and names the file $PLAYED.
func playDocker(t *testing.T, script string) (played string) {
	t.Helper()
	dir := t.TempDir()
	played = filepath.Join(dir, "played")
	t.Setenv("PLAYED", played)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return played
}

// A journal of the time when tare spoke with Docker's daemon itself is undone by its program.
func TestUndoDockerOfBefore(t *testing.T) {
	played := playDocker(t, `#!/bin/sh
echo "$*" >>"$PLAYED"
case $3 in
ps) echo 4e8c ;;
container) echo '[{"State": {"Status": "running"}}]' ;;
esac
`)
	state := t.TempDir()
	b, err := os.ReadFile("testdata/docker.jsonl")
	if err == nil {
		err = os.MkdirAll(journalDir(state), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(journalDir(state), "r1.jsonl"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := Undo(state, "r1")
	if err != nil || len(r.Failed) > 0 || len(r.Undone) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	said, err := os.ReadFile(played)
	for _, want := range []string{
		"--filter label=org.tarelab.tare.run=r1\n", "rm --force --volumes tare-r1-docker\n", "image rm tare-root:tare-r1-docker\n",
	} {
		if !strings.Contains(string(said), want) {
			t.Errorf("%v: not asked %q:\n%s", err, want, said)
		}
	}
}
