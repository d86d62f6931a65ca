package pods

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/environmenttest"
)

// levelText is a level of the table with the class and the image of this test; without an image level the
// pod has no programs.
func levelText(levels, class, image string) string {
	text := strings.NewReplacer("CLASS", class, "NAME", image).Replace(levels)
	if !strings.Contains(text, "image=") {
		text = "image=" + noImageWord + "," + text
	}
	return text
}

// The table of levels has all networks, volumes and places of the client but the defaults, and only cases
// of the suite.
func TestLevelCases(t *testing.T) {
	var tried []string
	for _, c := range levelCases {
		with(t, c.qos, levelText(c.levels, "fast", "localhost/x:1"))
		for l := range strings.SplitSeq(c.levels, ",") {
			tried = append(tried, l)
		}
		for _, name := range c.cases {
			if !environmenttest.HasCase(name) {
				t.Errorf("%s: the suite has no case %q", c.levels, name)
			}
		}
	}
	want := []string{"client=pod", "cpu=integer", "image=NAME", "volume=pvc:CLASS", "volume=" + hostPathVolume}
	for _, n := range networks {
		if n != podNetwork { // TestCluster has it
			want = append(want, "network="+n)
		}
	}
	for _, w := range want {
		if !slices.Contains(tried, w) {
			t.Errorf("no case is tried with %s", w)
		}
	}
}
