package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// The rights are those of the experiment. Without arms in pods there is no entry, not even an
// empty one, which would give a node helper's account the rights of every run with pods.
func TestRightsOf(t *testing.T) {
	const text = `
arms:
  host: {environment: host}
  service: {environment: "besteffort:network=service"}
  claim: {environment: "guaranteed:cpu=integer,volume=pvc:fast"}
  plain: {environment: burstable}
  group: {environment: cgroup}
baseline: host
workloads:
  a: {kind: rpc, arms: [ARMS]}
`
	for arms, want := range map[string][]string{
		"group":          nil,
		"plain":          nil,
		"service":        {"services"},
		"plain, claim":   {"persistentvolumeclaims", "persistentvolumes"},
		"claim, service": {"persistentvolumeclaims", "persistentvolumes", "services"},
	} {
		e, err := experiment.Parse("test.yaml", []byte(strings.ReplaceAll(text, "ARMS", arms)), catalog.Words())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		rights := rightsOf(e)
		if pods := arms != "group"; len(rights) > 0 != pods {
			t.Errorf("%s: %v, in pods: %v", arms, rights, pods)
		}
		for _, r := range rights {
			for resource := range r {
				got = append(got, resource)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", arms, got, want)
		}
	}
}
