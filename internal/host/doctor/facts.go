package doctor

import (
	"runtime"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Facts reads the facts about this host for the manifest. What cannot be read is empty.
func Facts(root string) record.Host {
	fs := proc.FS(root)
	h := record.Host{
		Name: word(fs, "proc/sys/kernel/hostname"), Kernel: word(fs, "proc/sys/kernel/osrelease"),
		Arch: runtime.GOARCH, CPUs: cpus(fs), Virtual: fs.Virtual(), Cgroup: layout(root),
	}
	h.CPUModel, _ = fs.CPUModel()
	if m, err := fs.Amounts("proc/meminfo", "MemTotal"); err == nil && m[0] >= 0 {
		h.Memory = uint64(m[0])
	}
	if g, err := fs.Governors(); err == nil {
		h.Governor = strings.Join(g, ", ")
	}
	h.Mitigations, _ = fs.Vulnerabilities()
	if os, err := fs.OSRelease(); err == nil {
		h.Distro = os["PRETTY_NAME"]
	}
	return h
}

func word(fs proc.FS, path string) string {
	w, _ := fs.Word(path)
	return w
}

// cpus counts the CPUs of the host that are online, with those that this process may not use.
func cpus(fs proc.FS) int {
	n, err := fs.OnlineCPUs()
	if err != nil {
		return 0
	}
	return n
}

func layout(root string) string {
	t, err := cgroup.Detect(root)
	if err != nil {
		return ""
	}
	return t.Layout.String()
}
