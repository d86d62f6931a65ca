package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// slowDocker plays Docker's program with a daemon that still loads an image for a killed
// client: the image is there at the third removal.
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

// An image that a busy daemon loads after its client was killed is removed too.
func TestUndoLateImage(t *testing.T) {
	dir := t.TempDir()
	played := filepath.Join(dir, "played")
	t.Setenv("PLAYED", played)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(slowDocker), 0o755); err != nil {
		t.Fatal(err)
	}
	step := ContainerStep{"docker", "unix:///none", "tare-r1-docker"}
	if err := step.Undo(&journal.Undoing{Run: "r1", Late: time.Now().Add(6 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	const removals = "tare-root:tare-r1-docker\ntare-root:tare-r1-docker\ntare-root:tare-r1-docker\n"
	if b, err := os.ReadFile(played); err != nil || len(b) < len(removals) || string(b[:len(removals)]) != removals {
		t.Errorf("the image stays: %q, %v", b, err)
	}
}
func TestCheckContainer(t *testing.T) {
	const podman, id = "/usr/bin/podman", "tare-r-c-1"
	journaltest.Checks(t, []journal.Step{
		ContainerStep{"docker", "unix:///var/run/docker.sock", "tare-r-docker"}, ContainerStep{"docker", "tcp://127.0.0.1:2376", "tare-r-docker"},
		ContainerStep{"podman", podman, "tare-r-podman"},
	}, []journal.Step{
		ContainerStep{"podman", "/usr/bin/podman/", id}, ContainerStep{"podman", "/bin/sh", id}, ContainerStep{"podman", "podman", id},
		ContainerStep{"docker", "/usr/bin/docker", id}, ContainerStep{"", "unix:///x", id}, ContainerStep{"docker", "", id},
		ContainerStep{"podman", podman, "web"}, ContainerStep{"podman", podman, "tare-r2-c"}, ContainerStep{"podman", podman, "tare-r"},
	})
}

func TestUndoByAnothersPodman(t *testing.T) {
	journaltest.Program(t, "podman", func(program string) journal.Step { return ContainerStep{"podman", program, "tare-r1-arm"} })
}
