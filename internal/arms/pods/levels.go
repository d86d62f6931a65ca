package pods

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/outside/kube"
)

// Levels are the levels of a pod's class: requests, limits, image, network, client, volume. The
// zero value is the class with its defaults.
type Levels struct {
	cpu, memory           amount
	cpuLimit, memoryLimit amount
	// image is the name of the image with the programs of the load. Empty: the pod mounts the
	// programs of the node. "none": the pod has neither.
	image string
	// network is how a client reaches the server, one of networks; empty: at the pod's address.
	network string
	client  bool // client=pod
	// clientOutside says that client=outside was named, and not left out.
	clientOutside bool
	// clientNode is the node of client=node:NAME, or anyOther.
	clientNode string
	// apparmor is the profile: default, unconfined, or a name; empty: the pod names none.
	apparmor string
	volume   volume
	size     amount // of a claim; zero: claimSize of the data set
	text     string // as the experiment has them
}

// amount is a number of millicores or bytes, or the most that fits on the node (max), or the
// most whole CPUs (max and whole).
type amount struct {
	n          int64
	max, whole bool
}

// Defaults of the requests. A Guaranteed pod requests all CPUs that are left.
const (
	usualCPU        = 100       // millicores of a Burstable pod
	usualMemory     = 256 << 20 // bytes of a Burstable pod
	usualGuaranteed = 2 << 30   // bytes of a Guaranteed pod: a small server
)

// Words of levels.
const (
	maxWord     = "max"     // the most that fits
	integerWord = "integer" // the most whole CPUs
	noImageWord = "none"
)

// levelNames are the names of a class's levels, sorted.
func levelNames(q QoS) []string {
	names := []string{"apparmor", "client", "image", "network", "volume", "volume-size"}
	switch q {
	case Guaranteed:
		names = append(names, "cpu", "memory")
	case Burstable:
		names = append(names, "cpu", "memory", "cpu-limit", "memory-limit")
	}
	slices.Sort(names)
	return names
}

// parse reads levels: "cpu=max,memory=2Gi".
func parse(q QoS, text string) (Levels, error) {
	l := Levels{text: text}
	var given []string
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || value == "" {
			return l, fmt.Errorf("%q: want level=value, for example cpu=1500m", part)
		}
		if !slices.Contains(levelNames(q), name) {
			return l, fmt.Errorf("a %s pod has no level %q%s", q, name, hint.DidYouMean(name, levelNames(q)))
		}
		if slices.Contains(given, name) {
			return l, fmt.Errorf("%s is given twice", name)
		}
		given = append(given, name)
		if err := l.set(name, value); err != nil {
			return l, err
		}
	}
	if err := (Pod{QoS: q, Levels: l}).checkLimits(); err != nil {
		return l, err
	}
	if l.size.n > 0 && l.volume.Class == "" {
		return l, errors.New("volume-size is what a claim asks for: it needs volume=pvc:CLASS")
	}
	return l, nil
}

// checkLimits returns an error if a limit is below the request, which the cluster would refuse.
func (p Pod) checkLimits() error {
	l := p.withDefaults()
	for _, x := range []struct {
		name           string
		request, limit amount
		write          func(int64) string
	}{{"cpu", l.cpu, l.cpuLimit, kube.CPUs}, {"memory", l.memory, l.memoryLimit, kube.Bytes}} {
		if x.limit.n > 0 && x.request.n > x.limit.n {
			return hint.New(fmt.Errorf("%s-limit=%s is below the request %s=%s", x.name, x.write(x.limit.n), x.name, x.write(x.request.n)), fmt.Sprintf("%s=%s,%s-limit=%s, or a larger limit", x.name, x.write(x.limit.n), x.name, x.write(x.limit.n)))
		}
	}
	return nil
}

func (l *Levels) set(name, value string) (err error) {
	switch name {
	case "cpu":
		if value == integerWord {
			l.cpu = amount{max: true, whole: true}
			return nil
		}
		l.cpu, err = readAmount(value, kube.ParseCPUs, true)
	case "memory":
		l.memory, err = readAmount(value, bytesOf, true)
	case "cpu-limit":
		l.cpuLimit, err = readAmount(value, kube.ParseCPUs, false)
	case "memory-limit":
		l.memoryLimit, err = readAmount(value, bytesOf, false)
	case "image":
		l.image = value
	case "client":
		return l.parseClient(value)
	case "apparmor":
		l.apparmor = value
	case "volume":
		l.volume, err = parseVolume(value)
	case "volume-size":
		if l.size, err = readAmount(value, bytesOf, false); err != nil {
			err = fmt.Errorf("volume-size %q: want an amount such as 10Gi", value)
		}
	case "network":
		if !slices.Contains(networks, value) {
			return fmt.Errorf("network %q: want one of %s%s", value, strings.Join(networks, ", "), hint.DidYouMean(value, networks))
		}
		l.network = value
	}
	return err
}

// bytesOf reads a size as an arm of this host has it: Kubernetes would read 2G with the base 1000.
func bytesOf(text string) (int64, error) {
	n, err := units.Size(text)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q is no bytes", text)
	}
	if err != nil {
		return 0, fmt.Errorf("memory: %w", err)
	}
	return n, nil
}

// readAmount reads an amount with read; if most is true, also the word max.
func readAmount(value string, read func(string) (int64, error), most bool) (amount, error) {
	if most && value == maxWord {
		return amount{max: true}, nil
	}
	n, err := read(value)
	return amount{n: n}, err
}

// withDefaults fills in the default requests.
func (p Pod) withDefaults() Levels {
	l := p.Levels
	none := amount{}
	switch p.QoS {
	case Guaranteed:
		if l.cpu == none {
			l.cpu = amount{max: true}
		}
		if l.memory == none {
			l.memory = amount{n: usualGuaranteed}
		}
	case Burstable:
		if l.cpu == none {
			l.cpu = amount{n: usualCPU}
		}
		if l.memory == none {
			l.memory = amount{n: usualMemory}
		}
	}
	return l
}

// amounts lists the amounts, for people: ", cpu 1500m, memory 2Gi".
func (l Levels) amounts() string {
	var parts []string
	for _, x := range []struct {
		name string
		amount
		write func(int64) string
	}{
		{"cpu", l.cpu, kube.CPUs}, {"memory", l.memory, kube.Bytes},
		{"cpu limit", l.cpuLimit, kube.CPUs}, {"memory limit", l.memoryLimit, kube.Bytes},
	} {
		switch {
		case x.whole:
			parts = append(parts, x.name+" "+integerWord)
		case x.max:
			parts = append(parts, x.name+" "+maxWord)
		case x.n > 0:
			parts = append(parts, x.name+" "+x.write(x.n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// podAmounts are the requests and limits of a pod. why is the reason for the number of CPUs of cpu=max,
// short the reason why a request of CPUs does not fit on the node; both may be empty.
type podAmounts struct {
	requests, limits kube.Amounts
	why, short       string
}

// resolve finds the amounts of the pod beside the pods of the other arms. Pods with cpu=max
// share the CPUs that are left.
func (p Pod) resolve(capacity kube.Capacity, beside []environment.Environment) podAmounts {
	if len(beside) == 0 {
		beside = []environment.Environment{p}
	}
	var fixed kube.Amounts
	cpus, memories := 0, 0
	for _, e := range beside {
		other, ok := e.(Pod)
		if !ok {
			continue
		}
		l := other.withDefaults()
		fixed.CPU += l.cpu.n
		fixed.Memory += l.memory.n
		if l.client {
			fixed.CPU += clientRequests.CPU
			fixed.Memory += clientRequests.Memory
		}
		if l.cpu.max {
			cpus++
		}
		if l.memory.max {
			memories++
		}
	}
	l := p.withDefaults()
	s := podAmounts{
		requests: kube.Amounts{CPU: l.cpu.n, Memory: l.memory.n},
		limits:   kube.Amounts{CPU: l.cpuLimit.n, Memory: l.memoryLimit.n},
	}
	switch most := capacity.Largest(fixed, max(1, cpus)).CPU; {
	case l.cpu.whole:
		s.requests.CPU = kube.WholeCPUs(most)
		s.why = capacity.WhyCPU(fixed, cpus) + ", of whole CPUs " + kube.CPUs(s.requests.CPU)
	case l.cpu.max:
		s.requests.CPU = most
		s.why = capacity.WhyCPU(fixed, cpus)
	default:
		others := fixed.Without(s.requests)
		if s.requests.CPU > capacity.Largest(others, 1).CPU {
			s.short = capacity.WhyNot(s.requests.CPU, others, 1)
		}
	}
	if l.memory.max {
		s.requests.Memory = capacity.Largest(fixed, memories).Memory
	}
	if p.QoS == Guaranteed {
		s.limits = s.requests
	}
	if s.limits.CPU > 0 && s.requests.CPU > s.limits.CPU { // cpu=max on a large node
		s.short = "the request of " + kube.CPUs(s.requests.CPU) + " CPUs is above the limit of " + kube.CPUs(s.limits.CPU)
	}
	return s
}
