package handover

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// cpus are CPUs that this host may not have.
var cpus = regexp.MustCompile(`(--cpuset-cpus)=[0-9,-]+`)

// Podman makes a container with the flags of every remedy.
func TestPodmanTakesTheFlags(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "podman")
	dir := t.TempDir()
	for _, d := range []string{"fs", "srv"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	storage := "podman --root " + filepath.Join(dir, "root") + " --runroot " + filepath.Join(dir, "run") + " --storage-driver vfs"
	line := func(m made, name string) string {
		l := m.Lines[len(m.Lines)-1]
		for _, r := range [][2]string{
			{"podman run --detach --name db", storage + " create --name " + name}, {" --volumes-from db-before", ""}, {" example.org/none", " --rootfs " + filepath.Join(dir, "fs") + " /bin/true"},
			{"podman update", storage + " create --name " + name}, // the same flags
			{"=/srv/db:", "=" + filepath.Join(dir, "srv") + ":"}, {"=db-socket:", "=" + filepath.Join(dir, "srv") + ":"},
		} {
			l = strings.Replace(l, r[0], r[1], 1)
		}
		if strings.HasSuffix(l, " db") {
			l = strings.TrimSuffix(l, "db") + "--rootfs " + filepath.Join(dir, "fs") + " /bin/true"
		}
		l = cpus.ReplaceAllString(l, "$1=0")
		if !fileThere("/sys/fs/cgroup/cgroup.controllers") { // Podman refuses --cgroup-conf with version 1
			l = strings.Join(slices.DeleteFunc(strings.Fields(l), func(w string) bool { return strings.HasPrefix(w, "--cgroup-conf=") }), " ")
		}
		return l
	}
	snippets := append(all(t, podman()), every(t, podman()), defaults(t, podman()))
	for i, m := range snippets {
		run(t, true, nil, "sh", "-c", line(m, fmt.Sprintf("c%d", i)))
	}
	wrong := line(snippets[0], "wrong") + " --cpus=half"
	run(t, false, nil, "sh", "-c", strings.Replace(wrong, " --rootfs", " --cpus=half --rootfs", 1))
}

// Docker's client parses the flags of every remedy; it gets as far as a daemon that is not there.
func TestDockerParsesTheFlags(t *testing.T) {
	testneed.Tool(t, "docker")
	env := []string{"DOCKER_HOST=unix:///nonexistent/docker.sock"}
	last := ""
	for _, m := range append(all(t, docker()), every(t, docker()), defaults(t, docker())) {
		last = m.Lines[len(m.Lines)-1]
		if out := run(t, false, env, "sh", "-c", last); !strings.Contains(strings.ToLower(out), "daemon") {
			t.Errorf("%s: %s\n%s", m.remedy, last, out)
		}
	}
	out := run(t, false, env, "sh", "-c", strings.Replace(last, "docker update", "docker update --container-name=x", 1))
	if !strings.Contains(out, "unknown flag") {
		t.Errorf("a wrong flag: %s", out)
	}
}

// A daemon sets limits in the container that runs, what is read back is what the kernel has, and the way back is the
// limit of before. For the rest it puts a container in its place, with its data, also those in a volume without a name,
// and the way back starts the first one again.
func TestDockerAppliesAndUndoes(t *testing.T) {
	testneed.Tool(t, "busybox")
	enginetest.Docker(t)
	dir := t.TempDir()
	image(t, dir, "tare-lines")
	run(t, true, nil, "docker", "run", "--detach", "--network=none", "--volume", "/data", "--cpus=0.3", "--memory=64m", "--name", "lines", "tare-lines")
	run(t, true, nil, "docker", "exec", "lines", "/busybox", "sh", "-c", "echo kept >/data/rows")
	first := inspected(t, "lines")
	thing := Thing{Name: "lines", Image: "tare-lines", Data: "/data", Cgroup: "v1"}
	if fileThere("/sys/fs/cgroup/cgroup.controllers") {
		thing.Cgroup = "v2"
	}
	set := func(key record.SettingKey, value string) record.RemedySetting {
		return record.RemedySetting{On: record.OnLoad, Key: key, Value: value}
	}
	commands := func(all []string) (out string) {
		for _, l := range all {
			out += run(t, true, nil, "sh", "-c", l)
		}
		return out
	}
	live := docker().Of(thing, []record.RemedySetting{set(record.KeyCPUMax, "0.5"), set(record.KeyMemoryMax, ""), set(record.KeyCPUSet, "0")},
		[]record.RemedySetting{set(record.KeyCPUSet, ""), set(record.KeyMemoryMax, "67108864"), set(record.KeyCPUMax, "0.3")})
	commands(live.Lines)
	if got, read := inspected(t, "lines"), strings.Fields(commands(live.Check)); got.ID != first.ID || !got.State.Running || !slices.Contains(read, "50000") || slices.Contains(read, "67108864") || !slices.Contains(read, "0") {
		t.Errorf("%v: %+v, %v", live.Lines, got, read)
	}
	commands(live.Undo)
	if got, read := inspected(t, "lines"), strings.Fields(commands(live.Check)); got.ID != first.ID || !slices.Contains(read, "30000") || !slices.Contains(read, "67108864") {
		t.Errorf("%v: %v", live.Undo, read)
	}
	for _, settings := range [][]record.RemedySetting{
		{set(record.KeyCPUMax, "0.5"), set(record.KeyNetwork, "host"), set(record.KeySeccomp, "unconfined")},
		{set(record.KeyNetwork, "host"), set(record.KeyVolume, "dir:"+filepath.Join(dir, "srv"))},
	} {
		s := docker().Of(thing, settings, nil)
		commands(s.Lines)
		got, read := inspected(t, "lines"), commands(s.Check)
		if h := got.HostConfig; got.ID == first.ID || !got.State.Running || h.NetworkMode != "host" || !strings.Contains(read, "host") || len(settings) == 3 && (h.NanoCpus != 5e8 || fmt.Sprint(h.SecurityOpt) != "[seccomp=unconfined]") {
			t.Errorf("%v\n%+v, %s", s.Lines, got, read)
		}
		if out := run(t, true, nil, "docker", "exec", "lines", "/busybox", "cat", "/data/rows"); out != "kept\n" {
			t.Errorf("the data are %q", out)
		}
		commands(s.Undo)
		if got := inspected(t, "lines"); got.ID != first.ID || !got.State.Running || got.HostConfig.NetworkMode != "none" {
			t.Errorf("after the way back: %+v", got)
		}
	}
	run(t, true, nil, "docker", "rm", "--force", "--volumes", "lines")
}

type inspection struct {
	ID         string `json:"Id"`
	State      struct{ Running bool }
	HostConfig struct {
		NanoCpus, CPUShares, Memory int64
		CpusetCpus, NetworkMode     string
		SecurityOpt                 []string
	}
}

func inspected(t *testing.T, name string) inspection {
	t.Helper()
	var all []inspection
	if err := json.Unmarshal([]byte(run(t, true, nil, "docker", "inspect", name)), &all); err != nil || len(all) != 1 {
		t.Fatal(err, all)
	}
	return all[0]
}

// image loads an image of busybox that sleeps.
func image(t *testing.T, dir, name string) {
	t.Helper()
	root := filepath.Join(dir, "image")
	if err := os.MkdirAll(filepath.Join(root, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, true, nil, "cp", testneed.Tool(t, "busybox"), filepath.Join(root, "busybox"))
	tar := filepath.Join(dir, "image.tar")
	run(t, true, nil, "tar", "-C", root, "-cf", tar, ".")
	run(t, true, nil, "docker", "import", "--change", `CMD ["/busybox", "sleep", "600"]`, tar, name)
}

// Compose merges the file of every remedy into one that has the settings already, and in which they are replaced.
func TestComposeTakesTheFile(t *testing.T) {
	testneed.Tool(t, "docker")
	out, err := exec.Command("docker", "compose", "version").CombinedOutput()
	if err != nil {
		testneed.Feature(t, "docker-compose", fmt.Errorf("%w: %s", err, out))
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "compose.yaml"), "networks: {inner: {}}", "services:", "  other: {image: x}", "  db:",
		"    {image: y, cpus: 1.5, cpuset: '3', ports: ['3306:3306'], networks: [inner], volumes: ['own:/other'], mem_limit: 1g}", "volumes: {own: {}}")
	merged := func(m made) map[string]any {
		write(t, filepath.Join(dir, "compose.tare.yaml"), m.Lines...)
		command, _, _ := strings.Cut(m.Then[0], " up ")
		var file struct {
			Services map[string]map[string]any
		}
		text := run(t, true, nil, "sh", "-c", "cd "+dir+" && "+command+" config --format json")
		if err := json.Unmarshal([]byte(text), &file); err != nil || len(file.Services) != 2 {
			t.Fatalf("%v\n%s", err, text)
		}
		return file.Services["db"]
	}
	snippets := append(all(t, compose()), defaults(t, compose()))
	for _, m := range snippets {
		got := merged(m)
		cpus, limited := got["cpus"]
		switch name, _, _ := strings.Cut(m.remedy, " "); {
		case name == "defaults" && got["mem_limit"] != nil, (name == "no-cpu-limit" || name == "defaults") && limited, name == "whole-cpus" && fmt.Sprint(cpus) != "2", name == "cpu-quota" && fmt.Sprint(cpus) != "1":
			t.Errorf("%s: cpus is %v", m.remedy, cpus)
		case name == "host-network" && (got["network_mode"] != "host" || got["ports"] != nil), name == "bind" && !strings.Contains(fmt.Sprint(got["volumes"]), "source:/srv/db"):
			t.Errorf("%s: %v", m.remedy, got)
		}
	}
	every := every(t, compose())
	if got := merged(every); fmt.Sprint(got["cpu_shares"]) != "2560" || !strings.Contains(fmt.Sprint(got["blkio_config"]), "device_write_bps") || got["mem_limit"] != "134217728" {
		t.Errorf("%v", got)
	}
	wrong := every
	wrong.Lines = append(slices.Clone(every.Lines), "unknown: 1")
	write(t, filepath.Join(dir, "compose.tare.yaml"), wrong.Lines...)
	run(t, false, nil, "sh", "-c", "cd "+dir+" && docker compose --file compose.yaml --file compose.tare.yaml config")
}
