package probe

import (
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
)

// nfsFiles are the files of a host with an export mounted, from a real kernel.
func nfsFiles(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../linux/proc/testdata/text/mountstats")
	if err != nil {
		t.Fatal(err)
	}
	files := hostFiles()
	files["proc/self/mountstats"] = string(b)
	files["proc/self/mountinfo"] = "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" +
		"37 23 0:28 / /mnt/n rw,nosuid,nodev,relatime - nfs4 127.0.0.1:/ rw,vers=4.2,hard\n"
	return files
}

// The arm's requests are reported by kind, and a retransmission shows.
func TestNFS(t *testing.T) {
	root := plant(t, nfsFiles(t))
	target := targetIn(t, root)
	target.Data = "/mnt/n/tare-x/data"
	s := open(t, target)
	before := s.Read(nil)
	change(t, root, "proc/self/mountstats", "WRITE: 10 10 0 165840 1840 23 81 120 0", "WRITE: 14 15 0 169936 2840 25 165 210 0")
	values := s.Values(before, s.Read(nil))
	for name, want := range map[string]float64{
		"nfs.requests": 4, "nfs.retransmits": 1, "nfs.sent": 4096, "nfs.received": 1000,
		"nfs.write.requests": 4, "nfs.write.queue": 0.002, "nfs.write.rtt": 0.084, "nfs.write.execute": 0.09,
		"nfs.read.requests": 0, "nfs.commit.rtt": 0, "nfs.getattr.execute": 0,
	} {
		if got, ok := values[name].Get(); !ok || got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
	// After an unmount within a window there is a reason and no number.
	change(t, root, "proc/self/mountstats", "127.0.0.1:/ mounted on /mnt/n", "127.0.0.1:/ mounted on /mnt/m")
	if v := s.Values(before, s.Read(nil))["nfs.write.rtt"]; !strings.Contains(said.English(v.Reason()), "without NFS on /mnt/n") {
		t.Errorf("gone: %v", v)
	}
}

// Without data on NFS the record has none of its metrics.
func TestNoNFS(t *testing.T) {
	for _, dir := range []string{"", "/home/data"} {
		target := targetIn(t, plant(t, nfsFiles(t)))
		target.Data = dir
		s := open(t, target)
		first := s.Read(nil)
		for name := range s.Values(first, s.Read(nil)) {
			if strings.HasPrefix(name, "nfs.") {
				t.Errorf("data in %q: %s", dir, name)
			}
		}
	}
}
