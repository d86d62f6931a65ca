package launch

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/linux/namespace"
)

// A server that became another user has no capabilities, which is correct. For a process that is still the
// arm's root, missing capabilities are an error.
func TestCapabilitiesOfAnotherUser(t *testing.T) {
	set, err := namespace.Capabilities(DockerCapabilities())
	if err != nil {
		t.Fatal(err)
	}
	own, err := statusOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if mine, err := strconv.ParseUint(own["CapBnd"], 16, 64); err == nil {
		set &= namespace.CapSet(mine)
	}
	none := namespace.CapSet(0).String()
	root, other := strconv.Itoa(os.Geteuid()), strconv.Itoa(os.Geteuid()+1)
	for _, c := range []struct {
		name, uids, held, bounding string
		wrong                      string
	}{
		{"root", root + " " + root + " " + root + " " + root, set.String(), set.String(), ""},
		{"root without", root + " " + root + " " + root + " " + root, none, set.String(), "capabilities.effective"},
		{"another", other + " " + other + " " + other + " " + other, none, set.String(), ""},
		{"another with", other + " " + other + " " + other + " " + other, set.String(), set.String(), "capabilities.effective"},
		{"another, unbounded", other + " " + other + " " + other + " " + other, none, own["CapBnd"] + "0", "capabilities.bounding"},
		{"root again later", other + " " + other + " " + root + " " + other, none, set.String(), "capabilities.permitted"},
	} {
		status := map[string]string{"Uid": c.uids, "CapEff": c.held, "CapPrm": c.held, "CapBnd": c.bounding, "CapInh": none, "CapAmb": none}
		_, err := capabilitySettings(status, DockerCapabilities(), os.Geteuid())
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
	}
}
