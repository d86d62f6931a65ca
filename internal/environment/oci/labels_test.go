package oci

import (
	"errors"
	"testing"

	"github.com/opencontainers/selinux/go-selinux"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
)

// The kernel of the tests may run without SELinux: what is written for the runtime is
// looked at, and that no label is asked for where there can be none.
func TestLabels(t *testing.T) {
	b := bundle{labels: labels{"system_u:system_r:spc_t:s0", "system_u:object_r:container_file_t:s0"}}
	s, err := b.spec()
	if err != nil || s.Process.SelinuxLabel != b.labels.process || s.Linux.MountLabel != b.labels.mount {
		t.Errorf("%+v %v", s, err)
	}
	if got, err := labelsOf(environment.Label{}); err != nil || got != (labels{}) {
		t.Errorf("nothing asked for: %+v %v", got, err)
	}
	if selinux.GetEnabled() {
		return
	}
	for _, l := range []environment.Label{{Type: "spc_t"}, {User: "u", Role: "r", Type: "spc_t", Level: "s0"}} {
		if got, err := labelsOf(l); !errors.Is(err, environment.ErrUnsupported) || hint.Of(err) == "" {
			t.Errorf("%s: %+v %v", l, got, err)
		}
	}
}
