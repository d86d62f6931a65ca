package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/experiment"
)

// The rights are those of the experiment at hand.
func TestRightsOf(t *testing.T) {
	const text = `
arms:
  host: {environment: host}
  service: {environment: "besteffort:network=service"}
  claim: {environment: "guaranteed:cpu=integer,volume=pvc:fast"}
  plain: {environment: burstable}
baseline: host
workloads:
  a: {kind: rpc, arms: [ARMS]}
`
	for arms, want := range map[string][]string{
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
		for _, r := range rightsOf(e) {
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
