package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/wire/metric"
)

// The functions here make parsers of values, whose errors name the key.

// atLeast accepts texts of at least so many bytes.
func atLeast(name string, least int) func(string) (string, error) {
	return func(text string) (string, error) {
		if len(text) < least {
			return "", fmt.Errorf("%s is empty", name)
		}
		return text, nil
	}
}

// oneOf accepts one of words. For a word of another tool the error names tare's.
func oneOf(name string, words []string) func(string) (string, error) {
	return func(text string) (string, error) {
		if other, ok := otherWords[strings.ToLower(text)]; ok && !slices.Contains(words, text) && slices.Contains(words, other[0]) {
			return "", fmt.Errorf("unknown %s %q; tare has %s", name, text, strings.Join(other, " or "))
		}
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("unknown %s %q%s", name, text, hint.DidYouMean(text, words))
		}
		return text, nil
	}
}

// otherWords are names of environments in other tools, with those in tare.
var otherWords = map[string][]string{
	"pod": podClasses, "pods": podClasses, "k8s": podClasses, "kubernetes": podClasses, "kube": podClasses, "k3s": podClasses, "kubelet": podClasses, "best-effort": {"besteffort"},
	"kata": {"gvisor"}, "kata-containers": {"gvisor"}, "runsc": {"gvisor"}, "sandbox": {"gvisor"}, "vm": {"gvisor"},
	"containerd": {"runc", "crun"}, "oci": {"runc", "crun"}, "nerdctl": {"docker", "podman"}, "moby": {"docker"},
	"baremetal": {"host"}, "bare-metal": {"host"}, "bare": {"host"}, "metal": {"host"}, "native": {"host"}, "none": {"host"}, "local": {"host"},
	"overlay": {"rootfs"}, "overlayfs": {"rootfs"}, "seccomp": {"security"}, "capabilities": {"security"}, "bridge": {"network"}, "veth": {"network"},
	"net": {"network"}, "iptables": {"nat"}, "nftables": {"nat"}, "limit": {"cpu-limit"}, "quota": {"cpu-limit"}, "cgroups": {"cgroup"}, "ns": {"namespaces"},
}

var podClasses = []string{"besteffort", "burstable", "guaranteed"}

func durationWithin(name string, least, most time.Duration, auto bool) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		if auto && text == autoWord {
			return 0, nil
		}
		d, err := ParseDuration(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: %w", name, err)
		case d < 0:
			return 0, fmt.Errorf("%s: %s must be positive; want %s to %s", name, text, formatDuration(least), formatDuration(most))
		case d < least || d > most:
			return 0, fmt.Errorf("%s %s is out of range; want %s to %s", name, text, formatDuration(least), formatDuration(most))
		}
		return d, nil
	}
}

func ratioWithin(name string, least, most float64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		x, err := ParseRatio(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: %w", name, err)
		case x > most && x <= 100*most && !strings.HasSuffix(text, "%"):
			return 0, fmt.Errorf("%s %s is %s; did you mean \"%s%%\"?", name, text, formatRatio(x), text)
		case x < least || x > most:
			return 0, fmt.Errorf("%s %s is out of range; want %s to %s", name, text, formatRatio(least), formatRatio(most))
		}
		return x, nil
	}
}

func countUpTo(name string, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		if text == autoWord {
			return 0, nil
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 1 || i > most {
			return 0, fmt.Errorf("%s %q is not a whole number from 1 to %d or %s", name, text, most, autoWord)
		}
		return i, nil
	}
}

func bytesWithin(name string, least, most int64) func(string) (int64, error) {
	return func(text string) (int64, error) {
		b, err := units.Size(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: %w", name, err)
		case b < least || b > most:
			return 0, fmt.Errorf("%s %s is out of range; want %s to %s", name, text, units.Bytes(least), units.Bytes(most))
		}
		return b, nil
	}
}

// Bounds of a quota in CPUs, and of a weight. The kernel's smallest quota is 1 ms in a period of 100 ms.
const (
	leastQuota, mostQuota = 0.01, 4096
	mostWeight            = 10_000
)

// quota reads a number of CPUs.
func quota(name string) func(string) (float64, error) {
	const least, most = leastQuota, mostQuota
	return func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= least && x <= most) {
			return 0, fmt.Errorf("%s %q is not a number of CPUs from %v to %v, such as 1.5", name, text, least, most)
		}
		return x, nil
	}
}

// weight reads a weight of the kernel's (cpu.weight).
func weight(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostWeight {
		return 0, fmt.Errorf("weight %q is not a whole number from 1 to %d; 100 is the default", text, mostWeight)
	}
	return n, nil
}

// truth reads true or false.
func truth(name string) func(string) (bool, error) {
	return func(text string) (bool, error) {
		_, err := oneOf(name, []string{"true", "false"})(text)
		return text == "true", err
	}
}

func seed(text string) (uint64, error) {
	if text == autoWord {
		return 0, nil
	}
	x, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("seed %q is not a whole number from 0 to 18446744073709551615 or %s", text, autoWord)
	}
	return x, nil
}

func share(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0.01 && x <= 100) {
		return 0, fmt.Errorf("share %q is not a weight from 0.01 to 100", text)
	}
	return x, nil
}

// objective reads a quantile of the latency and its limit: p99<=10ms.
func objective(text string) (Objective, error) {
	name, limit, ok := strings.Cut(text, "<=")
	name, limit = strings.TrimSpace(name), strings.TrimSpace(limit)
	m, known := metric.Find(nil, name)
	if !ok || !known || m.Quantile == 0 {
		return Objective{}, fmt.Errorf("objective %q is not p50, p95 or p99 with a limit, such as p99<=10ms", text)
	}
	most, err := durationWithin("objective", time.Microsecond, time.Hour, false)(limit)
	return Objective{Metric: m.Name, Most: most}, err
}

func formatObjective(o Objective) string { return o.Metric + "<=" + formatDuration(o.Most) }
