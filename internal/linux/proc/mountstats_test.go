package proc

import (
	"bytes"
	"strings"
	"testing"
)

func TestNFSStats(t *testing.T) {
	b := text(t, "mountstats")
	all := make([]NFSOps, 3)
	if err := NFSStats(b, "/mnt/n", []string{"WRITE", "GETATTR"}, all); err != nil {
		t.Fatal(err)
	}
	same(t, "WRITE", all[1], NFSOps{10, 10, 165840, 1840, 0.023, 0.081, 0.120})
	same(t, "GETATTR", all[2], NFSOps{1, 1, 152, 240, 0, 0.006, 0.007})
	if sum := all[0]; sum.Requests <= 11 || sum.Sent < sum.Requests || sum.Taken < sum.Answered {
		t.Errorf("all requests: %+v", sum)
	}
	// Two mounts follow: one whose path has a blank, and one on the same point.
	twice := bytes.Replace(b, []byte("/mnt/n with"), []byte(`/mnt/a\040b with`), 1)
	twice = append(twice, bytes.Replace(b, []byte("WRITE: 10 10"), []byte("WRITE: 12 13"), 1)...)
	twice = append(twice, bytes.Replace(b, []byte("WRITE: 10 10"), []byte("WRITE: 20 20"), 1)...)
	for point, want := range map[string]float64{"/mnt/a b": 10, "/mnt/n": 20} {
		if err := NFSStats(twice, point, []string{"WRITE"}, all[:2]); err != nil || all[1].Requests != want {
			t.Errorf("%s: %v, %v", point, all[1], err)
		}
	}
	for name, bad := range map[string]string{
		"no NFS there": "/vm", "no mount there": "/mnt", "a part of its path": "/mnt/",
	} {
		if err := NFSStats(b, bad, nil, all[:1]); err == nil {
			t.Errorf("%s: %+v", name, all)
		}
	}
	if err := NFSStats([]byte(strings.Replace(string(b), "WRITE: 10", "WRITE: -1", 1)), "/mnt/n", nil, all[:1]); err == nil {
		t.Errorf("a negative count: %+v", all)
	}
}

// FuzzNFSStats: there is an error, or no number is negative.
func FuzzNFSStats(f *testing.F) {
	seed(f, "mountstats")
	f.Fuzz(func(t *testing.T, b []byte) {
		all := make([]NFSOps, 2)
		if NFSStats(b, "/mnt/n", []string{"WRITE"}, all) == nil {
			for _, o := range all {
				counts(t, "requests", o.Requests, o.Queued, o.Answered, o.Taken)
			}
		}
	})
}
