package probe

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/said"
)

// mountedOn is a host whose data is on the mount of a line of mountinfo.
func mountedOn(line string) map[string]string {
	files := hostFiles()
	files["proc/self/mountinfo"] = "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" + line + "\n"
	return files
}

// link makes a symbolic link in a planted tree.
func link(t *testing.T, root, name, to string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// onData opens the probes on a planted tree for data at /mnt.
func onData(t *testing.T, root string) *Set {
	t.Helper()
	target := targetIn(t, root)
	target.Data, target.Host = "/mnt/data", true
	return open(t, target)
}

// Two readings of /sys/block/vda/stat on a virtual machine with Linux 6.18, where dd wrote with
// oflag=direct,dsync; at the second reading a write was in flight.
const (
	vdaBefore = " 1886910    78027 51698726  4226381 11785486  1353899 311801848  5936915        0  1047240 10806159  1228424      710 375873416   252599  4162231   390262\n"
	vdaAfter  = " 1886920    78027 51698822  4226382 11785687  1353899 311811976  5936929        1  1047256 10806177  1228424      710 375873416   252599  4162306   390266\n"
)

// The probe reports requests on the device, their times, and how many are in flight.
func TestDevice(t *testing.T) {
	files := mountedOn("37 23 254:0 / /mnt rw - ext4 /dev/vda rw")
	files["sys/block/vda/stat"], files["sys/block/vda/mq/0/cpu_list"] = vdaBefore, "0, 1\n"
	root := plant(t, files)
	link(t, root, "sys/dev/block/254:0", "../../block/vda")
	s := onData(t, root)
	before := s.Read(nil)
	change(t, root, "sys/block/vda/stat", vdaBefore, vdaAfter)
	values := s.Values(before, s.Read(nil))
	for name, want := range map[string]float64{
		"device.reads": 10, "device.writes": 201, "device.flushes": 75,
		"device.read.time": 1e-3, "device.write.time": 14e-3, "device.flush.time": 4e-3, "device.inflight": 1,
	} {
		if got, ok := values[name].Get(); !ok || got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
}

// Flushes are missing with the reason where the kernel shows 0: before Linux 5.5, and on a
// device without a queue of requests.
func TestDeviceWithoutFlushes(t *testing.T) {
	for name, c := range map[string]struct{ stat, mq, why string }{
		"old": {"21330 30950 2151976 8538 0 7968 71621 9669 65 794704 535\n", "sys/block/vda/mq/0/cpu_list", "no device.flush"},
		"dm":  {vdaBefore, "sys/block/vda/dm/name", "counts a flush as a write"},
	} {
		t.Run(name, func(t *testing.T) {
			files := mountedOn("37 23 254:0 / /mnt rw - ext4 /dev/vda rw")
			files["sys/block/vda/stat"], files[c.mq] = c.stat, "0\n"
			root := plant(t, files)
			link(t, root, "sys/dev/block/254:0", "../../block/vda")
			s := onData(t, root)
			values := s.Values(s.Read(nil), s.Read(nil))
			for _, name := range []string{"device.flushes", "device.flush.time"} {
				if v := values[name]; !strings.Contains(said.English(v.Reason()), c.why) {
					t.Errorf("%s is %v", name, v)
				}
			}
			if got, ok := values["device.writes"].Get(); !ok || got != 0 {
				t.Errorf("device.writes is %v", values["device.writes"])
			}
		})
	}
}

// posted is a text that a kernel printed; internal/linux/proc names the source.
func posted(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../linux/proc/testdata/text/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// latencies is the table of latencies with which the file of a newer kernel begins. Its last
// line is made up in the format of metrics_latency_show in fs/ceph/debugfs.c.
func latencies(t *testing.T) string {
	t.Helper()
	all := posted(t, "ceph.metrics")
	table, _, _ := strings.Cut(all[strings.Index(all, "item          total       avg_lat"):], "\n\n")
	return table + "\ncopyfrom      0           0               0               0               0\n"
}

const cephName = "63be7de3-e137-4b6d-ab75-323b27f21254.client4475"

// cephTree is a host with a Ceph image mapped and mounted. The files of the mapping and the
// device are made up in the format of drivers/block/rbd.c and block/genhd.c: no kernel here has
// both an image and debugfs.
func cephTree(t *testing.T) string {
	t.Helper()
	const rbd, debug = "sys/devices/rbd/0/", "sys/kernel/debug/ceph/" + cephName
	cluster, client, _ := strings.Cut(cephName, ".")
	files := mountedOn("37 23 252:0 / /mnt rw,nosuid,nodev,relatime - ext4 /dev/rbd0 rw")
	files[rbd+"cluster_fsid"], files[rbd+"client_id"] = cluster+"\n", client+"\n"
	files[rbd+"config_info"] = "127.0.0.1:10000 name=admin,osd_request_timeout=60 rbd tare -\n"
	files[rbd+"block/rbd0/stat"] = "       1        0        8        1        4        0       64       20        0       20       21        0        0        0        0        0        0\n"
	files[rbd+"block/rbd0/mq/0/cpu_list"] = "0\n"
	files[debug+"/osdc"] = posted(t, "ceph.osdc")
	root := plant(t, files)
	link(t, root, "sys/dev/block/252:0", "../../devices/rbd/0/block/rbd0")
	return root
}

// An image's client reports the requests that wait for the stores, and its device their time.
func TestCephImage(t *testing.T) {
	root := cephTree(t)
	s := onData(t, root)
	values := s.Values(s.Read(nil), s.Read(nil))
	for name, want := range map[string]float64{"ceph.waiting": 2, "ceph.homeless": 0, "device.writes": 0, "device.flushes": 0} {
		if got, ok := values[name].Get(); !ok || got != want {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
	if v := values["ceph.write.time"]; !strings.Contains(said.English(v.Reason()), "at its device") {
		t.Errorf("ceph.write.time is %v", v)
	}
}

// onCephFS opens the client's probe for data on a Ceph file system; xattr answers for the
// kernel.
func onCephFS(t *testing.T, shown map[string]string, xattr func(path, name string) (string, error)) *Set {
	t.Helper()
	files := mountedOn("37 23 0:50 / /mnt rw - ceph 127.0.0.1:10000:/ rw,name=admin")
	const debug = "sys/kernel/debug/ceph/" + cephName
	files[debug+"/osdc"] = posted(t, "ceph.osdc")
	for name, text := range shown {
		files[debug+name] = text
	}
	target := targetIn(t, plant(t, files))
	target.Data, target.Host = "/mnt/data", true
	s := OpenAll([]Probe{cephClient{xattr}}, target)
	t.Cleanup(func() { s.Close() })
	return s
}

// The client of a file system counts its requests, in separate files and, before Linux 5.16, in
// one file.
func TestCephFS(t *testing.T) {
	countsRequests(t, map[string]string{"/metrics/latency": latencies(t)})
	countsRequests(t, map[string]string{"/metrics": posted(t, "ceph.metrics")})
}

func countsRequests(t *testing.T, shown map[string]string) {
	t.Helper()
	cluster, client, _ := strings.Cut(cephName, ".")
	s := onCephFS(t, shown, func(path, name string) (string, error) {
		switch {
		case filepath.Base(path) != "mnt":
			return "", unix.ENODATA
		case name == "ceph.cluster_fsid":
			return cluster, nil
		case name == "ceph.client_id":
			return client, nil
		}
		return "", unix.ENODATA
	})
	before := s.Read(nil)
	for i := range before {
		before[i] = 0 // values at the mount
	}
	values := s.Values(before, s.Read(nil))
	for name, want := range map[string]float64{
		"ceph.waiting": 2, "ceph.write.requests": 5, "ceph.write.time": 5 * 914013e-6, "ceph.metadata.requests": 79, "ceph.metadata.time": 79 * 12856e-6, "ceph.read.time": 0,
	} {
		if got, ok := values[name].Get(); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
}

// A silent cluster is a reason after a time limit, a kernel before Linux 5.11 at once.
func TestCephFSNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		defer close(ended)
		s := onCephFS(t, nil, func(string, string) (string, error) { <-ended; return "", nil })
		if v := s.Values(s.Read(nil), s.Read(nil))["ceph.waiting"]; !strings.Contains(said.English(v.Reason()), "has not answered for") || !strings.Contains(said.English(v.Reason()), "umount -f") {
			t.Errorf("silent: %v", v)
		}
	})
	s := onCephFS(t, nil, func(string, string) (string, error) { return "", unix.EOPNOTSUPP })
	if v := s.Values(s.Read(nil), s.Read(nil))["ceph.waiting"]; !strings.Contains(said.English(v.Reason()), "which Ceph client") {
		t.Errorf("an old kernel: %v", v)
	}
}

// A kernel without debugfs is a reason, with the remedy.
func TestCephWithoutDebugfs(t *testing.T) {
	root := cephTree(t)
	if err := os.RemoveAll(filepath.Join(root, "sys/kernel/debug")); err != nil {
		t.Fatal(err)
	}
	s := onData(t, root)
	if v := s.Values(s.Read(nil), s.Read(nil))["ceph.waiting"]; !strings.Contains(said.English(v.Reason()), "mount -t debugfs") {
		t.Errorf("%v", v)
	}
}

// The kernel's mean becomes a sum. A value is missing with the reason if rounding can be more
// than a twentieth of it, or if the sum ran backwards.
func TestCephLatency(t *testing.T) {
	m := cephClient{}.Metrics()[2:]
	s := &Set{metrics: m, readers: []openProbe{{n: len(m)}}}
	parse := cephLatency()
	read := func(write string) []float64 {
		dst := make([]float64, len(m))
		if err := parse([]byte("read 0 0\nwrite "+write+"\nmetadata 79 12856\n"), dst); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	for _, c := range []struct {
		before, after, why string
		requests, time     float64
	}{
		{before: "100 5000", after: "110 5000", requests: 10, time: 0.05},
		{before: "100 5000", after: "100 5000"},
		{before: "100000 5000", after: "100010 5000", requests: 10, why: "after 100010 requests"},
		{before: "100000 5000", after: "100010 4999", requests: 10, why: "after 100010 requests"},
		{before: "100 5000", after: "90 5000", why: "backwards"}, // another mount
	} {
		values := s.Values(read(c.before), read(c.after))
		got, ok := values["ceph.write.time"].Get()
		if why := values["ceph.write.time"].Reason(); ok != (c.why == "") || math.Abs(got-c.time) > 1e-9 || !strings.Contains(said.English(why), c.why) {
			t.Errorf("%q to %q: %v", c.before, c.after, values["ceph.write.time"])
		}
		if n, ok := values["ceph.write.requests"].Get(); ok && n != c.requests {
			t.Errorf("%q to %q: %v requests", c.before, c.after, n)
		}
		if x, ok := values["ceph.metadata.time"].Get(); !ok || x != 0 {
			t.Errorf("metadata, of which there was none: %v", values["ceph.metadata.time"])
		}
	}
	dst := make([]float64, len(m))
	if err := parse([]byte("item total\nread 1 2\n"), dst); err == nil || !math.IsNaN(dst[2]) {
		t.Errorf("half a file: %v %v", err, dst)
	}
}

// Without data on a device or on Ceph the record has none of their metrics.
func TestNoDevice(t *testing.T) {
	target := targetIn(t, plant(t, nfsFiles(t)))
	target.Data, target.Host = "/mnt/n/tare-x/data", true
	s := open(t, target)
	for name := range s.Values(s.Read(nil), s.Read(nil)) {
		if strings.HasPrefix(name, "device.") || strings.HasPrefix(name, "ceph.") {
			t.Errorf("data on NFS: %s", name)
		}
	}
}
