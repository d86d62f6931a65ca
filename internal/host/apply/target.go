package apply

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// Target names something that runs.
type Target struct{ Kind, Name string }

// The kinds of targets.
const (
	kindUnit      = "unit"
	kindGroup     = "cgroup"
	kindContainer = "container" // of the engine that knows the name
	kindDocker    = "docker"
	kindPodman    = "podman"
	kindPod       = "pod"
)

func (t Target) String() string { return t.Kind + ":" + t.Name }

// Parse reads a target.
func Parse(word string) (Target, error) {
	kind, name, ok := strings.Cut(word, ":")
	bad := strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
	if !ok || name == "" || bad || strings.HasPrefix(name, "-") {
		return Target{}, hint.New(fmt.Errorf("target %q", word), TargetForms)
	}
	switch kind {
	case kindUnit, kindGroup, kindContainer, kindDocker, kindPodman:
		return Target{kind, name}, nil
	case kindPod:
		if n := strings.Count(name, "/"); n == 1 || n == 2 {
			return Target{kind, name}, nil
		}
	}
	return Target{}, hint.New(fmt.Errorf("target %q", word), TargetForms)
}
