package handover

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// verify is what systemd-analyze says of units.
func verify(files ...string) string {
	out, _ := exec.Command("systemd-analyze", append([]string{"verify", "--man=no"}, files...)...).CombinedOutput()
	return string(out)
}

// systemd knows every line of the drop-in of every remedy.
func TestSystemdKnowsTheLines(t *testing.T) {
	testneed.Tool(t, "systemd-analyze")
	dir := t.TempDir()
	var files []string
	add := func(name string, lines []string) {
		file := filepath.Join(dir, name+".service")
		write(t, file, "[Service]", "ExecStart=/bin/true")
		write(t, filepath.Join(dir, name+".service.d/"+last+".conf"), lines...)
		files = append(files, file)
	}
	for i, m := range append(all(t, unit()), defaults(t, unit())) {
		add(fmt.Sprintf("remedy%d", i), m.Lines)
	}
	every := every(t, unit())
	add("every", every.Lines)
	if out := verify(files...); strings.Contains(out, last+".conf") {
		t.Error(out)
	}
	add("wrong", append(every.Lines, "CPUBurst=1"))
	if out := verify(files...); !strings.Contains(out, "wrong.service.d/"+last+".conf") {
		t.Errorf("a wrong line is not seen: %s", out)
	}
}

// Quadlet's generator makes a service of a container with the drop-in of every remedy, and systemd knows its lines.
func TestQuadletTakesTheLines(t *testing.T) {
	const generator = "/usr/libexec/podman/quadlet"
	if !fileThere(generator) {
		testneed.Tool(t, "quadlet")
	}
	testneed.Tool(t, "systemd-analyze")
	dir, out := t.TempDir(), t.TempDir()
	env := []string{"QUADLET_UNIT_DIRS=" + dir}
	add := func(name string, lines []string) {
		write(t, filepath.Join(dir, name+".container"), "[Container]", "Image=example.org/none", "PodmanArgs=--cpus=1.5", "[Service]", "CPUQuota=150%")
		write(t, filepath.Join(dir, name+".container.d/"+last+".conf"), lines...)
	}
	var files []string
	snippets := append(all(t, quadlet()), every(t, quadlet()), defaults(t, quadlet()))
	for i, m := range snippets {
		name := fmt.Sprintf("remedy%d", i)
		add(name, m.Lines)
		files = append(files, filepath.Join(out, name+".service"))
	}
	said := run(t, true, env, generator, "-no-kmsg-log", "-v", out)
	if strings.Contains(strings.ToLower(said), "error") || strings.Contains(said, "unsupported") {
		t.Error(said)
	}
	for i, m := range snippets {
		service := run(t, true, nil, "cat", files[i])
		for _, l := range m.Lines {
			_, word, _ := strings.Cut(l, "=")
			if strings.HasPrefix(l, "PodmanArgs=") && !strings.Contains(service, " "+word+" ") {
				t.Errorf("%s: %s is not in\n%s", m.remedy, word, service)
			}
		}
	}
	if said := verify(files...); strings.Contains(said, out) {
		t.Error(said)
	}
	add("wrong", append(slices.Clone(snippets[0].Lines), "[Container]", "Burst=1"))
	if said, err := exec.Command("env", env[0], generator, "-no-kmsg-log", "-dryrun").CombinedOutput(); err == nil && !strings.Contains(string(said), "Burst") {
		t.Errorf("a wrong line is not seen: %s", said)
	}
}
