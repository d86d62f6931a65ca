package handover

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// settings has every key with a valid value.
func settings(except ...record.SettingKey) (all []record.RemedySetting) {
	values := map[record.SettingKey]string{
		record.KeyCPUIdle: "1", record.KeyCPUWeight: "250", record.KeyCPUMax: "0.5", record.KeyCPUBurst: "0.2", record.KeyCPUSet: "0-1",
		record.KeySched: "idle", record.KeyIOWeight: "50", record.KeyIOBytes: "1048576", record.KeyMemoryHigh: "67108864",
		record.KeyMemoryMax: "134217728", record.KeyQoSLevel: "-1", record.KeyNetwork: "host", record.KeyConnect: "socket",
		record.KeyVolume: "bind", record.KeySeccomp: "unconfined", record.KeyPodClass: "guaranteed", record.KeyPodCPURequest: "1.5",
		record.KeyPodCPULimit: "2", record.KeyPodMemoryRequest: "134217728", record.KeyPodMemoryLimit: "268435456",
		record.KeyStorageClass: "local", record.KeyCPUManager: "static", record.KeyBufferPool: "268435456", record.KeyFlushMethod: "O_DIRECT",
		record.KeyIOCapacity: "400", record.KeySharedBuffers: "268435456",
	}
	for _, k := range record.SettingKeys() {
		on := record.OnLoad
		if slices.Contains([]record.SettingKey{record.KeyBufferPool, record.KeyFlushMethod, record.KeyIOCapacity, record.KeySharedBuffers}, k) {
			on = record.OnServer
		}
		if !slices.Contains(except, k) {
			all = append(all, record.RemedySetting{On: on, Key: k, Value: values[k]})
		}
	}
	return all
}

// Every key has lines or a reason in every target that is about its subject, and a snippet has its way back.
func TestEveryKeyIsAnswered(t *testing.T) {
	for _, target := range Targets() {
		for _, s := range settings() {
			got := target.Of(Thing{}, []record.RemedySetting{s})
			if !slices.Contains(target.on, s.On) {
				if len(got.Lines)+len(got.Skipped) > 0 {
					t.Errorf("%s, %s: %+v", target.Name, s.Key, got)
				}
				continue
			}
			if (len(got.Lines) > 0) == (len(got.Skipped) > 0) || (len(got.Lines) > 0) != (len(got.Undo) > 0) {
				t.Errorf("%s, %s: %+v", target.Name, s.Key, got)
			}
			if s.Value = ""; len(got.Lines) > 0 && len(target.Of(Thing{}, []record.RemedySetting{s}).Skipped) != 1 {
				t.Errorf("%s, %s: the default has lines", target.Name, s.Key)
			}
		}
	}
}

// shares come back as the same weight by the formula of runc and crun.
func TestSharesAreTheWeight(t *testing.T) {
	for weight, want := range map[string]string{"1": "2", "100": "2598", "10000": "262144"} {
		if got := shares(weight); got != want {
			t.Errorf("weight %s is %s shares, want %s", weight, got, want)
		}
	}
}

func run(t *testing.T, ok bool, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// device is any block device of this host.
func device(t *testing.T) string {
	t.Helper()
	names, err := os.ReadDir("/sys/block")
	if err == nil {
		for _, n := range names {
			if path := "/dev/" + n.Name(); fileThere(path) {
				return path
			}
		}
	}
	t.Skip("no block device")
	return ""
}

func fileThere(path string) bool { _, err := os.Stat(path); return err == nil }

// Podman takes the flags when it makes a container.
func TestPodmanTakesTheFlags(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "podman")
	dir := t.TempDir()
	x := Thing{Name: "handed-over", Image: "--rootfs " + filepath.Join(dir, "fs") + " /bin/true", Data: "/data", Device: device(t)}
	s := podman().Of(x, settings(record.KeyVolume)) // bind needs its directory
	s2 := podman().Of(x, []record.RemedySetting{{On: record.OnLoad, Key: record.KeyVolume, Value: "dir:" + dir}})
	storage := "podman --root " + filepath.Join(dir, "root") + " --runroot " + filepath.Join(dir, "run") + " --storage-driver vfs create"
	if err := os.MkdirAll(filepath.Join(dir, "fs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{s.Lines[0], strings.Replace(s2.Lines[0], "handed-over", "second", 1)} {
		if !fileThere("/sys/fs/cgroup/cgroup.controllers") { // Podman refuses --cgroup-conf with version 1
			line = strings.Join(slices.DeleteFunc(strings.Fields(line), func(w string) bool { return strings.HasPrefix(w, "--cgroup-conf=") }), " ")
		}
		run(t, true, nil, "sh", "-c", strings.Replace(line, "podman run", storage, 1))
	}
	wrong := strings.Replace(s.Lines[0], "--cpus=0.5", "--cpus=half", 1)
	run(t, false, nil, "sh", "-c", strings.Replace(wrong, "podman run", storage, 1))
}

// Docker's client parses the flags; it gets as far as a daemon that is not there.
func TestDockerParsesTheFlags(t *testing.T) {
	testneed.Tool(t, "docker")
	s := docker().Of(Thing{Name: "x", Image: "none", Device: "/dev/null"}, settings())
	env := []string{"DOCKER_HOST=unix:///nonexistent/docker.sock"}
	if out := run(t, false, env, "sh", "-c", s.Lines[0]); !strings.Contains(strings.ToLower(out), "daemon") {
		t.Errorf("%s\n%s", s.Lines[0], out)
	}
	out := run(t, false, env, "sh", "-c", strings.Replace(s.Lines[0], "--cpus", "--cpu-number", 1))
	if !strings.Contains(out, "unknown flag") {
		t.Errorf("a wrong flag: %s", out)
	}
}

// systemd knows every line of the drop-in.
func TestSystemdKnowsTheLines(t *testing.T) {
	testneed.Tool(t, "systemd-analyze")
	verify := func(lines []string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "db.service"), "[Service]", "ExecStart=/bin/true")
		write(t, filepath.Join(dir, "db.service.d/50-tare.conf"), lines...)
		out, _ := exec.Command("systemd-analyze", "verify", filepath.Join(dir, "db.service")).CombinedOutput()
		return string(out)
	}
	s := unit().Of(Thing{Name: "db", Device: "/dev/null"}, settings())
	if out := verify(s.Lines); strings.Contains(out, "50-tare.conf") {
		t.Errorf("%s\n%s", strings.Join(s.Lines, "\n"), out)
	}
	if out := verify(append(s.Lines, "CPUBurst=1")); !strings.Contains(out, "50-tare.conf") {
		t.Errorf("a wrong line is not seen: %s", out)
	}
	for _, l := range quadlet().Of(Thing{Name: "db"}, settings()).Lines {
		if strings.HasPrefix(l, "[") && l != "[Container]" && l != "[Service]" {
			t.Errorf("quadlet has %s", l)
		}
	}
}

func write(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// kubectl merges the patch into a deployment.
func TestKubectlTakesThePatch(t *testing.T) {
	testneed.Tool(t, "kubectl")
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	write(t, file, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"db"},"spec":{"selector":{"matchLabels":{"a":"b"}},`,
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"side","image":"x"},{"name":"db","image":"y"}]}}}}`)
	s := pod().Of(Thing{Name: "db"}, settings(record.KeyCPUMax, record.KeyMemoryMax))
	line := strings.Replace(s.Lines[0], "kubectl patch deployment db", "kubectl patch --local -o json -f "+file, 1)
	var got struct {
		Spec struct {
			Template struct {
				Spec struct {
					HostNetwork bool
					Containers  []struct {
						Name, Image     string
						SecurityContext struct{ SeccompProfile struct{ Type string } }
						Resources       struct{ Requests, Limits struct{ CPU, Memory string } }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(run(t, true, nil, "sh", "-c", line)), &got); err != nil {
		t.Fatal(err)
	}
	spec := got.Spec.Template.Spec
	for _, c := range spec.Containers {
		if c.Name == "db" && (c.Image != "y" || c.Resources.Limits.CPU != "2" || c.Resources.Requests.Memory == "" || c.SecurityContext.SeccompProfile.Type != "Unconfined") {
			t.Errorf("%+v", c)
		}
	}
	if len(spec.Containers) != 2 || !spec.HostNetwork {
		t.Errorf("%+v", spec)
	}
}

// MariaDB and PostgreSQL read their files.
func TestServersReadTheFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "own.cnf")
	t.Run("mariadb", func(t *testing.T) {
		tool := testneed.Tool(t, "mariadbd")
		write(t, file, mysql().Of(Thing{}, settings()).Lines...)
		out := run(t, true, nil, tool, "--defaults-file="+file, "--help", "--verbose")
		for _, want := range [][2]string{{"innodb-buffer-pool-size", "268435456"}, {"innodb-io-capacity", "400"}, {"innodb-flush-method", "O_DIRECT"}} {
			if !slices.ContainsFunc(strings.Split(out, "\n"), func(l string) bool { return slices.Equal(strings.Fields(l), want[:]) }) {
				t.Errorf("%s is not %s", want[0], want[1])
			}
		}
	})
	t.Run("postgres", func(t *testing.T) {
		tool := testneed.Tool(t, "postgres")
		write(t, file, postgres().Of(Thing{}, settings()).Lines...)
		out := run(t, true, nil, tool, "-C", "shared_buffers", "-D", dir, "-c", "config_file="+file)
		if lines := strings.Fields(out); lines[len(lines)-1] != "32768" { // blocks of 8 KiB
			t.Errorf("shared_buffers is %s", out)
		}
	})
}

// Compose's file is YAML with one service; the kubelet's lines are YAML.
func TestFilesAreYAML(t *testing.T) {
	var file struct{ Services map[string]map[string]any }
	s := compose().Of(Thing{Name: "db"}, settings(record.KeyIOBytes))
	if err := yaml.Unmarshal([]byte(strings.Join(s.Lines, "\n")), &file); err != nil || file.Services["db"]["cpu_shares"] != 6530 || len(file.Services["db"]) != 8 {
		t.Errorf("%v, %+v", err, file)
	}
	var config map[string]string
	if err := yaml.Unmarshal([]byte(strings.Join(kubelet().Of(Thing{}, settings()).Lines, "\n")), &config); err != nil || config["cpuManagerPolicy"] != "static" {
		t.Errorf("%v, %+v", err, config)
	}
}
