package isolation

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// quota limits the neighbour's CPU time, also while nobody else wants it. With burst, time that
// was not used can be used later, up to one more quota (Linux 5.14).
type quota struct{ burst bool }

func (q quota) Describe() description {
	d := description{Name: "cpu.quota", Title: record.Say("isolation_quota"),
		Level: level{Default: "25%", Check: check(percent)}}
	if q.burst {
		d.Name, d.Title = "cpu.burst", record.Say("isolation_burst")
	}
	return d
}

func (q quota) Support(h facts.Host) facts.Support {
	files := []string{"cpu.max"}
	if v1(h, "cpu") {
		files[0] = "cpu.cfs_quota_us"
	}
	if q.burst {
		files = append(files, q.burstFile(h))
	}
	return can(h, kernelWithQuota, "cpu", files...)
}

func (quota) burstFile(h facts.Host) string {
	if v1(h, "cpu") {
		return "cpu.cfs_burst_us"
	}
	return "cpu.max.burst"
}

// least is the kernel's shortest quota.
const least = time.Millisecond

func (q quota) Settings(level string, h facts.Host) (Settings, error) {
	share, err := percent(level)
	if err != nil {
		return Settings{}, err
	}
	if len(h.Control.CPUs) == 0 {
		return Settings{}, fmt.Errorf("%s: the CPUs of this host are unknown", q.Describe().Name)
	}
	us := int64(math.Round(share * float64(len(h.Control.CPUs)) * float64(period.Microseconds())))
	text := strconv.FormatInt(max(us, least.Microseconds()), 10)
	f := File{Controller: "cpu", Name: "cpu.cfs_quota_us", Write: text}
	if !v1(h, "cpu") {
		f.Name, f.Write = "cpu.max", fmt.Sprint(text, " ", period.Microseconds())
	}
	s := Settings{Neighbour: []string{"cpu"}, Files: []File{f}, Period: period, Live: true}
	if q.burst {
		s.Files = append(s.Files, File{Controller: "cpu", Name: q.burstFile(h), Write: text, Undo: "0"})
	}
	return s, nil
}
