package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/kube"
)

// Levels are what a pod asks for, and what it is made of. The zero value is the
// class's usual one.
type Levels struct {
	cpu, memory           amount
	cpuLimit, memoryLimit amount
	// image holds the programs of the load; empty: they are the node's; "none":
	// there are none.
	image string
	// host is network=host, client is client=pod.
	host, client bool
	text         string // as they were written
}

// amount is thousandths of a CPU or bytes; max is the most that fits.
type amount struct {
	n   int64
	max bool
}

// What a pod asks for that was not told: a Guaranteed one the CPUs that there
// are, and memory for a small server.
const (
	usualCPU             = 100       // of a Burstable one, thousandths
	usualMemory          = 256 << 20 // likewise
	usualGuaranteed      = 2 << 30   // memory
	maxWord, noImageWord = "max", "none"
)

// LevelNames are the levels of a class.
func LevelNames(q QoS) []string {
	names := []string{"client", "image", "network"}
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
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || value == "" {
			return l, fmt.Errorf("%q: want level=value, for example cpu=1500m", part)
		}
		if !slices.Contains(LevelNames(q), name) {
			return l, fmt.Errorf("a %s pod has no level %q%s", q, name, hint.DidYouMean(name, LevelNames(q)))
		}
		if err := l.set(name, value); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *Levels) set(name, value string) (err error) {
	switch name {
	case "cpu":
		l.cpu, err = readAmount(value, kube.ParseCPUs, true)
	case "memory":
		l.memory, err = readAmount(value, kube.ParseBytes, true)
	case "cpu-limit":
		l.cpuLimit, err = readAmount(value, kube.ParseCPUs, false)
	case "memory-limit":
		l.memoryLimit, err = readAmount(value, kube.ParseBytes, false)
	case "image":
		l.image = value
	case "client":
		if value == "inside" {
			return hint.New(errors.New("client=inside is the workload's"), "set: {client: inside} of the arm, or params: of the workload")
		}
		if value != "outside" && value != "pod" {
			return fmt.Errorf("client %q%s", value, hint.DidYouMean(value, []string{"outside", "pod"}))
		}
		l.client = value == "pod"
	case "network":
		if value != "pod" && value != "host" {
			return fmt.Errorf("network %q%s", value, hint.DidYouMean(value, []string{"pod", "host"}))
		}
		l.host = value == "host"
	}
	return err
}

func readAmount(value string, read func(string) (int64, error), most bool) (amount, error) {
	if most && value == maxWord {
		return amount{max: true}, nil
	}
	n, err := read(value)
	return amount{n: n}, err
}

// complete fills in what was not told.
func (p Pod) complete() Levels {
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

// asks are the amounts, for people.
func (l Levels) asks() string {
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

// settled are the amounts of a pod, with the reason for the most of CPU.
type settled struct {
	requests, limits kube.Amounts
	why              string
}

// settle finds what the pod asks for, beside the pods of the other arms: those
// that ask for the most share what is left.
func (p Pod) settle(room kube.Room, beside []environment.Environment) settled {
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
		l := other.complete()
		fixed.CPU += l.cpu.n
		fixed.Memory += l.memory.n
		if l.client {
			fixed.CPU += clientAsks.CPU
			fixed.Memory += clientAsks.Memory
		}
		if l.cpu.max {
			cpus++
		}
		if l.memory.max {
			memories++
		}
	}
	l := p.complete()
	s := settled{
		requests: kube.Amounts{CPU: l.cpu.n, Memory: l.memory.n},
		limits:   kube.Amounts{CPU: l.cpuLimit.n, Memory: l.memoryLimit.n},
	}
	if l.cpu.max {
		s.requests.CPU = room.Largest(fixed, cpus).CPU
		s.why = room.WhyCPU(fixed, cpus)
	}
	if l.memory.max {
		s.requests.Memory = room.Largest(fixed, memories).Memory
	}
	if p.QoS == Guaranteed {
		s.limits = s.requests
	}
	return s
}
