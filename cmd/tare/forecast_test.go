package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// forecastLine is what tare doctor and tare plan foretell of the default experiment.
var forecastLine = regexp.MustCompile(`3 min\s+reach\s+±([0-9.]+)(?:\s+to\s+([0-9]+))?\s+%`)

// TestForecast: tare doctor and tare plan, ten times in turn, foretell brackets whose ends differ by a
// factor of two at most, unless the host itself becomes another one in these two minutes.
func TestForecast(t *testing.T) {
	testneed.Long(t, "forecast")
	runs, err := strconv.Atoi(setting("TARETEST_RUNS", "10"))
	if err != nil {
		t.Fatal(err)
	}
	var least, most [2]float64 // of the lower and the upper end; an upper end of 0: or more
	for i := range 2 * runs {
		command := []string{"doctor", "plan"}[i%2]
		cmd := exec.Command("/proc/self/exe", "__cli", command)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		out, err := cmd.Output()
		found := forecastLine.FindSubmatch(out)
		if err != nil || found == nil {
			t.Fatalf("tare %s: %v\n%s", command, err, out)
		}
		t.Logf("tare %-6s %s", command, found[0])
		for end := range 2 {
			x, _ := strconv.ParseFloat(string(found[1+end]), 64)
			if i == 0 || x < least[end] {
				least[end] = x
			}
			most[end] = max(most[end], x)
		}
	}
	for end := range 2 {
		if most[end] > 2*least[end] && least[end] > 0 {
			t.Errorf("from %v to %v %%", least[end], most[end])
		}
	}
}

// TestForecastOfDoctor: tare doctor has in JSON what it says in words.
func TestForecastOfDoctor(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "__cli", "doctor", "--format", "json")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Noise    map[string]json.RawMessage
		Expected *struct {
			Experiment         string
			Seconds, Low, High float64
		}
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if _, ok := a.Noise["predicted_seconds"]; ok || a.Noise["neighbour_sd"] == nil {
		t.Errorf("%s", out)
	}
	if x := a.Expected; x == nil || x.Experiment != "quick" || x.Seconds != 180 || !(0 < x.Low && x.Low < x.High) {
		t.Errorf("%+v", a.Expected)
	}
}
