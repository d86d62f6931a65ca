package seccomp

import (
	"maps"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/google/go-cmp/cmp"
)

// time64 are calls of 32-bit machines that the library's table of arm64 names too. A
// kernel of arm64 answers them with ENOSYS.
var time64 = map[string]uint32{
	"clock_gettime64": 403, "clock_settime64": 404, "clock_adjtime64": 405, "clock_getres_time64": 406,
	"clock_nanosleep_time64": 407, "timer_gettime64": 408, "timer_settime64": 409, "timerfd_gettime64": 410,
	"timerfd_settime64": 411, "utimensat_time64": 412, "pselect6_time64": 413, "ppoll_time64": 414,
	"io_pgetevents_time64": 416, "recvmmsg_time64": 417, "mq_timedsend_time64": 418, "mq_timedreceive_time64": 419,
	"semtimedop_time64": 420, "rt_sigtimedwait_time64": 421, "futex_time64": 422, "sched_rr_get_interval_time64": 423,
}

// newer are calls that the library's table of Linux 6.15 lacks; Docker's profile names none of them.
var newer = map[string]uint32{"file_getattr": 468, "file_setattr": 469, "listns": 470, "rseq_slice_yield": 471}

func TestLibrarysTablesAreTheOldOnes(t *testing.T) {
	for _, c := range []struct {
		goarch         string
		missing, added map[string]uint32
	}{
		{"amd64", map[string]uint32{"uprobe": 336}, nil},
		{"arm64", map[string]uint32{"newfstatat": 79}, map[string]uint32{"fstatat": 79}},
	} {
		m, _ := machineOf(c.goarch)
		info, err := arch.GetInfo(c.goarch)
		if err != nil {
			t.Fatal(err)
		}
		if uint32(info.ID) != m.audit {
			t.Errorf("%s: audit value %#x, was %#x", c.goarch, uint32(info.ID), m.audit)
		}
		want := map[string]uint32{}
		for _, call := range m.calls {
			want[call.name] = call.number
		}
		for name := range newer {
			delete(want, name)
		}
		for name := range c.missing {
			delete(want, name)
		}
		maps.Copy(want, c.added)
		if c.goarch == "arm64" {
			maps.Copy(want, time64)
		}
		got := map[string]uint32{}
		for name, number := range info.SyscallNames {
			got[name] = uint32(number)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", c.goarch, d)
		}
	}
}
