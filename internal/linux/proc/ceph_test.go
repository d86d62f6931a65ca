package proc

import (
	"math"
	"testing"
)

var cephKinds = []string{"read", "write", "metadata"}

// Both texts are from real kernels, as posted: ceph.metrics on linux-kernel on 2021-10-26,
// before Linux 5.16; ceph.osdc on ceph-devel on 2019-07-19, Linux 4.14, with the tabs of the
// kernel's format where the mail has blanks and broken lines. The text with homeless requests
// is made up in the format of osdc_show in net/ceph/debugfs.c: nobody posted one.
func TestCeph(t *testing.T) {
	all := make([]CephOp, len(cephKinds))
	if err := CephLatency(text(t, "ceph.metrics"), cephKinds, all); err != nil {
		t.Fatal(err)
	}
	same(t, "read", all[0], CephOp{})
	same(t, "write", all[1].Requests, 5.0)
	same(t, "metadata", all[2].Requests, 79.0)
	if taken := all[2].Taken; math.Abs(taken-79*12856e-6) > 1e-9 {
		t.Errorf("metadata requests took %v s", taken)
	}
	if err := CephLatency([]byte("read 1 2\nwrite x 3\n"), cephKinds, all); err == nil || !math.IsNaN(all[0].Requests) {
		t.Errorf("half of it: %v %v", err, all)
	}
	waiting, homeless, err := CephWaiting(text(t, "ceph.osdc"))
	if waiting != 2 || homeless != 0 || err != nil {
		t.Errorf("%v %v %v", waiting, homeless, err)
	}
	if waiting, homeless, err = CephWaiting([]byte("REQUESTS 3 homeless 1\nLINGER REQUESTS\nBACKOFFS\n")); waiting != 3 || homeless != 1 || err != nil {
		t.Errorf("%v %v %v", waiting, homeless, err)
	}
	if _, _, err := CephWaiting([]byte("REQUESTS 3\n")); err == nil {
		t.Error("half a line")
	}
}

func FuzzCeph(f *testing.F) {
	seed(f, "ceph.metrics")
	seed(f, "ceph.osdc")
	f.Add([]byte("REQUESTS 3 homeless 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all := make([]CephOp, len(cephKinds))
		err := CephLatency(b, cephKinds, all)
		for _, o := range all {
			if counts(t, "ceph", o.Requests, o.Taken); (err != nil) != math.IsNaN(o.Taken) {
				t.Errorf("%+v, %v", o, err)
			}
		}
		waiting, homeless, err := CephWaiting(b)
		if counts(t, "osdc", waiting, homeless); (err != nil) != math.IsNaN(waiting+homeless) {
			t.Errorf("%v %v, %v", waiting, homeless, err)
		}
	})
}
