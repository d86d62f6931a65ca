package apply

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// never are keys that no running target can take, or that cannot be taken back, with the reason.
func never(key record.SettingKey) error {
	reason := map[record.SettingKey]string{
		record.KeyNetwork: noNetwork, record.KeyConnect: noConnect, record.KeyVolume: noVolume, record.KeySeccomp: noSeccomp,
		record.KeyPodClass: noClass, record.KeyStorageClass: noStorage, record.KeyCPUManager: noKubelet, record.KeySched: noSched,
		record.KeyQoSLevel: noQoSBack, record.KeyIOBytes: noDevice, record.KeyBufferPool: noServer, record.KeyFlushMethod: noServer,
		record.KeyIOCapacity: noServer, record.KeySharedBuffers: noServer,
	}[key]
	if reason == "" {
		return nil
	}
	return errors.New(reason)
}

// inKernel is a setting as the kernel has it, in the words of record.RemedySetting; ok is false if the group
// does not show it.
func inKernel(g cgroup.Group, key record.SettingKey) (value string, ok bool) {
	f, found := fileOf(g, key)
	if !found {
		return "", false
	}
	text, err := g.Read(f.in, f.name)
	if err != nil {
		return "", false
	}
	switch key {
	case record.KeyCPUMax:
		quota, period, err := quotaOf(g, text)
		if err != nil || quota <= 0 {
			return "", err == nil
		}
		return decimal(float64(quota) / float64(period)), true
	case record.KeyCPUBurst:
		us, err := strconv.ParseFloat(text, 64)
		_, period, perr := quotaOf(g, "")
		return decimal(us / float64(period)), err == nil && perr == nil
	case record.KeyMemoryMax, record.KeyMemoryHigh:
		n, err := strconv.ParseUint(text, 10, 64)
		if text == "max" || err == nil && n > math.MaxInt64/2 {
			return "", true
		}
		return text, err == nil
	}
	return strings.TrimPrefix(text, "default "), true
}

// agrees says whether the kernel has what a step set. Engines and the kernel round.
func agrees(g cgroup.Group, s Step, got string) bool {
	want := s.Wanted
	f, _ := fileOf(g, record.SettingKey(s.Setting))
	if w, err := strconv.ParseUint(want, 10, 64); err == nil && f.name == "cpu.shares" {
		want = strconv.FormatUint(cgroup.Shares(w), 10)
	}
	a, aerr := strconv.ParseFloat(want, 64)
	b, berr := strconv.ParseFloat(got, 64)
	if aerr == nil && berr == nil {
		return math.Abs(a-b) <= 0.02*math.Max(math.Abs(a), 1) || math.Abs(a-b) <= 4096 && a > 1e6
	}
	if want == "" { // a limit that is removed: by none, or by all CPUs
		return got == "" || s.To != "" && berr == nil
	}
	return cgroup.Same(want, got) || aerr != nil
}

// decimal is a number of CPUs.
func decimal(x float64) string { return strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64) }

// quotaOf parses cpu.max, or cpu.cfs_quota_us with the period beside it. The quota is -1 without a limit.
func quotaOf(g cgroup.Group, text string) (quota, period int64, err error) {
	if g.Dirs["cpu"] == g.Dirs[cgroup.Unified] {
		if text == "" {
			if text, err = g.Read("cpu", "cpu.max"); err != nil {
				return 0, 0, err
			}
		}
		q, p, _ := strings.Cut(text, " ")
		if period, err = strconv.ParseInt(p, 10, 64); err != nil || q == "max" {
			return -1, period, err
		}
		quota, err = strconv.ParseInt(q, 10, 64)
		return quota, period, err
	}
	p, err := g.Read("cpu", "cpu.cfs_period_us")
	if err == nil {
		period, err = strconv.ParseInt(p, 10, 64)
	}
	if err == nil && text == "" {
		text, err = g.Read("cpu", "cpu.cfs_quota_us")
	}
	if err == nil {
		quota, err = strconv.ParseInt(text, 10, 64)
	}
	return quota, period, err
}
