package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FS is the directory above proc and sys: "/" outside tests.
type FS string

// Path joins a path below the root.
func (f FS) Path(elem ...string) string {
	return filepath.Join(append([]string{string(f)}, elem...)...)
}

// Pid is the path of a file of a process or thread.
func (f FS) Pid(pid int, file string) string { return f.Path("proc", strconv.Itoa(pid), file) }

// Text reads a whole file.
func (f FS) Text(path string) ([]byte, error) { return os.ReadFile(f.Path(path)) }

// Word reads a file and trims its text.
func (f FS) Word(path string) (string, error) {
	b, err := f.Text(path)
	return strings.TrimSpace(string(b)), err
}

// Amounts parses a file of keys and numbers as Keyed does, such as meminfo or vmstat.
func (f FS) Amounts(path string, keys ...string) ([]float64, error) {
	b, err := f.Text(path)
	if err != nil {
		return nil, err
	}
	dst := make([]float64, len(keys))
	Keyed(b, keys, dst)
	return dst, nil
}

// Status reads the status of a process or thread.
func (f FS) Status(pid int) (Status, error) {
	b, err := os.ReadFile(f.Pid(pid, "status"))
	if err != nil {
		return nil, err
	}
	s := ParseStatus(b)
	if len(s) == 0 {
		return nil, malformed("status of a process")
	}
	return s, nil
}

// OOMScoreAdj is oom_score_adj, from -1000 to 1000: when memory is out the kernel kills a
// process with a high value first.
func (f FS) OOMScoreAdj(pid int) (string, error) {
	b, err := os.ReadFile(f.Pid(pid, "oom_score_adj"))
	return strings.TrimSpace(string(b)), err
}

// CPUModel is the name of the CPU in cpuinfo; where cpuinfo has none (arm64), implementer and
// part numbers. Empty: there is neither.
func (f FS) CPUModel() (string, error) {
	b, err := f.Text("proc/cpuinfo")
	if err != nil {
		return "", err
	}
	return cpuModel(b), nil
}

func cpuModel(text []byte) string {
	info := firstCPU(text)
	for _, key := range []string{"model name", "Model", "cpu model", "uarch"} {
		if v := info[key]; v != "" {
			return v
		}
	}
	if impl, part := info["CPU implementer"], info["CPU part"]; impl != "" && part != "" {
		return "implementer " + impl + " part " + part
	}
	return ""
}

// firstCPU has the first value of every key of cpuinfo.
func firstCPU(text []byte) Status {
	s := Status{}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, found := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if _, seen := s[key]; found && !seen {
			s[key] = strings.TrimSpace(value)
		}
	}
	return s
}

// Virtual is the product name in the firmware of a virtual machine, and "hypervisor" if the CPU
// reports one. Empty: nothing here shows a hypervisor, which it can hide.
func (f FS) Virtual() string {
	var hints []string
	for _, path := range []string{"sys/class/dmi/id/product_name", "sys/hypervisor/type", "proc/device-tree/hypervisor/compatible"} {
		if w, err := f.Word(path); err == nil && w != "" {
			hints = append(hints, strings.Trim(w, "\x00"))
		}
	}
	b, err := f.Text("proc/cpuinfo")
	flagged := err == nil && strings.Contains(" "+firstCPU(b)["flags"]+" ", " hypervisor ")
	switch {
	case flagged && len(hints) == 0:
		return "hypervisor"
	case flagged:
		return "hypervisor (" + strings.Join(hints, ", ") + ")"
	case len(hints) > 0 && knownGuest(hints):
		return strings.Join(hints, ", ")
	}
	return ""
}

// knownGuest says whether a product name is that of a virtual machine.
func knownGuest(hints []string) bool {
	for _, h := range hints {
		for _, name := range []string{"KVM", "QEMU", "Virtual", "VMware", "Firecracker", "xen", "kvm", "HVM", "Compute Engine", "OpenStack"} {
			if strings.Contains(h, name) {
				return true
			}
		}
	}
	return false
}

// Vulnerabilities are the kernel's words about each vulnerability of the CPU and its
// mitigation, by name.
func (f FS) Vulnerabilities() (map[string]string, error) {
	const dir = "sys/devices/system/cpu/vulnerabilities"
	entries, err := os.ReadDir(f.Path(dir))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, e := range entries {
		if w, err := f.Word(filepath.Join(dir, e.Name())); err == nil {
			all[e.Name()] = w
		}
	}
	return all, nil
}

// ErrNoFrequency means that the kernel does not set the CPU's frequency; the firmware or the
// hypervisor does.
var ErrNoFrequency = errors.New("no cpufreq: the kernel does not set the frequency of this CPU")

// Governors are the frequency governors in use, each once, in the order of CPUs.
func (f FS) Governors() ([]string, error) {
	paths, err := filepath.Glob(f.Path("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	if err != nil {
		return nil, err
	}
	var names []string
	seen := map[string]bool{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		if w := strings.TrimSpace(string(b)); !seen[w] {
			seen[w], names = true, append(names, w)
		}
	}
	if len(names) == 0 {
		return nil, ErrNoFrequency
	}
	return names, nil
}

// Turbo says whether the CPU may run above its nominal frequency.
func (f FS) Turbo() (on bool, err error) {
	for path, off := range map[string]string{
		"sys/devices/system/cpu/intel_pstate/no_turbo": "1",
		"sys/devices/system/cpu/cpufreq/boost":         "0",
	} {
		w, err := f.Word(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		return w != off, nil
	}
	return false, ErrNoFrequency
}

// OSRelease is the distribution's os-release by key, unquoted.
func (f FS) OSRelease() (map[string]string, error) {
	b, err := f.Text("etc/os-release")
	if errors.Is(err, fs.ErrNotExist) {
		b, err = f.Text("usr/lib/os-release")
	}
	if err != nil {
		return nil, fmt.Errorf("find the distribution: %w", err)
	}
	return osRelease(string(b)), nil
}

func osRelease(text string) map[string]string {
	m := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, "=")
		if !found || key == "" || strings.HasPrefix(key, "#") {
			continue
		}
		m[key] = unquote(value)
	}
	return m
}

// unquote removes shell quotes: 'a b', "a \"b\"".
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] || s[0] != '\'' && s[0] != '"' {
		return s
	}
	single := s[0] == '\''
	s = s[1 : len(s)-1]
	if single {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\\"$`", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
