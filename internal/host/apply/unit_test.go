package apply

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// Values as systemd 252 and 257 print them.
func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"CPUQuota", "500ms", "0.5"}, {"CPUQuota", "1.500000s", "1.5"}, {"CPUQuota", "1min 4s", "64"}, {"CPUQuota", "infinity", ""},
		{"CPUWeight", "[not set]", ""}, {"CPUWeight", "0", "idle"}, {"CPUWeight", "idle", "idle"}, {"CPUWeight", "250", "250"},
		{"MemoryMax", "infinity", ""}, {"MemoryMax", "134217728", "134217728"}, {"AllowedCPUs", "0-1 3", "0-1,3"}, {"AllowedCPUs", "", ""},
	} {
		if got := canonical(c.name, c.text); got != c.want {
			t.Errorf("%s=%s is %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// A value for set-property is what systemctl shows afterwards.
func TestUnitValues(t *testing.T) {
	for _, c := range []struct {
		key         record.SettingKey
		value       string
		shows, sets string
	}{
		{record.KeyCPUMax, "0.5", "0.5", "CPUQuota=50%"}, {record.KeyCPUMax, "", "", "CPUQuota="}, {record.KeyCPUIdle, "1", "idle", "CPUWeight=idle"},
		{record.KeyCPUIdle, "0", "100", "CPUWeight=100"}, {record.KeyCPUWeight, "250", "250", "CPUWeight=250"},
		{record.KeyCPUWeight, "", "100", "CPUWeight=100"}, {record.KeyMemoryMax, "", "", "MemoryMax="},
		{record.KeyMemoryHigh, "134217729", "134217728", "MemoryHigh=134217728"}, {record.KeyCPUSet, "0-1", "0-1", "AllowedCPUs=0-1"},
	} {
		got, err := unitValue(record.RemedySetting{Key: c.key, Value: c.value})
		if err != nil || got != c.shows || assignment(properties()[c.key], got) != c.sets {
			t.Errorf("%s=%q: %q, %v, %s", c.key, c.value, got, err, assignment(properties()[c.key], got))
		}
	}
}
