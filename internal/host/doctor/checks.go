package doctor

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/record"
)

// Checks makes all checks, in the order of reports: the user, the features that arms need,
// pressure accounting, memory and disk, steadiness, features of other kernels.
func Checks(p Patient) []Check {
	f := proc.FS(p.Root)
	all := []Check{
		{"host", "host", onHost(p.Host)},
		{"root", "root", root(p.Host)},
		{"groups", titleGroups, groups(p.Host)},
		{"controllers", "controllers", controllers(p.Host)},
		{"freezer", "freezer", freezer(p.Host)},
	}
	for _, name := range facts.Features() {
		all = append(all, Check{name, featureTitle(name), p.Host.Has(name)})
	}
	return append(all,
		Check{"psi", titlePSI, psi(f, p.Host)},
		Check{"memory", titleMemory, freeMemory(f)},
		Check{"disk", titleDisk, freeSpace(p.Scratch)},
		Check{"fdatasync", titleSync, durable(f, p.Scratch)},
		Check{"governor", titleGovernor, governor(f)},
		Check{"turbo", titleTurbo, turbo(f)},
		Check{"swap", "swap", swap(f)},
		Check{"limits", titleOwnLimit, ownLimit(p.Host)},
		Check{"clock", "clock", clock(f)},
		Check{"qos", isolation.QoSLevel, qosLevel(p.Host)},
	)
}

func featureTitle(name string) string {
	titles := map[string]string{
		facts.FeatureNamespaces: "namespaces", facts.FeatureOverlay: titleOverlay,
		facts.FeatureSeccomp: titleSeccomp, facts.FeatureNetwork: titleNetwork,
		facts.FeatureNAT: titleNAT, facts.FeatureContainer: titleRuntime,
		facts.FeatureRealtime: titleRealtime,
	}
	if t := titles[name]; t != "" {
		return t
	}
	return name
}

// onHost checks that the host can be measured: tare is not in a container.
func onHost(h facts.Host) facts.Support {
	if !h.Container.IsZero() {
		return facts.Unsupported(h.Container, h.ContainerRemedy)
	}
	return yes(record.Say("host_of_its_own"))
}

func root(h facts.Host) facts.Support {
	if h.Root {
		return yes(record.Say("user_id", "id", 0))
	}
	return facts.Unsupported(record.Say("user_id", "id", os.Geteuid()), record.Say("root_for_layers"))
}

func groups(h facts.Host) facts.Support {
	if h.Groups == nil {
		return h.NoGroups
	}
	return named(h.Groups.Layout.String())
}

// wanted are the controllers of the control group rung, by their names in version 2.
var wanted = [...]string{"cpu", "cpuset", "memory", "io", "pids"}

func controllers(h facts.Host) facts.Support {
	if h.Groups == nil {
		return unknown(record.Say("groups_unknown"))
	}
	have := append([]string(nil), h.Groups.V2Controllers...)
	for c := range h.Groups.V1 {
		have = append(have, c)
	}
	sort.Strings(have)
	var missing []string
	for _, c := range wanted {
		if h.Groups.Version(c) == 0 {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		return facts.Unsupported(record.Say("missing", "names", missing), record.Say("enable_controllers"))
	}
	if kept := h.Groups.StillEnabled(); kept != nil {
		return facts.Unsupported(kept.Said(), kept.Remedy())
	}
	return named(strings.Join(slices.Compact(have), ", "))
}

// OwnLimit is the memory limit of this process that the arms do not have; nothing: there is none.
func OwnLimit(h facts.Host) record.Said {
	if h.Groups == nil {
		return record.Said{}
	}
	if limit := h.Groups.OwnMemory(); limit > 0 {
		return record.Say("shell_limit", "limit", limit)
	}
	return record.Said{}
}

func ownLimit(h facts.Host) facts.Support {
	if limit := OwnLimit(h); !limit.IsZero() {
		return facts.Unsupported(limit, record.Say("limit_arms"))
	}
	return yes(record.Say("no_shell_limit"))
}

func freezer(h facts.Host) facts.Support {
	if h.Freezer != "" {
		return named(h.Freezer)
	}
	return facts.Unsupported(cmp.Or(h.NoFreezer, record.Say("no_freezer")), record.Say("root_for_freezer"))
}

// psi checks for pressure accounting of the host and of control groups.
func psi(f proc.FS, h facts.Host) facts.Support {
	b, err := f.Text("proc/pressure/cpu")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return facts.Unsupported(record.Say("no_psi"), record.Say("use_psi"))
	case errors.Is(err, unix.EOPNOTSUPP):
		return facts.Unsupported(record.Say("psi_off"), record.Say("start_with_psi"))
	case err != nil:
		return facts.Unclear(err)
	}
	if some, _ := proc.Pressure(b); math.IsNaN(some) {
		return unknown(record.Say("psi_unreadable"))
	}
	if h.Groups != nil && h.Groups.V2 == "" {
		return facts.Unsupported(record.Say("psi_of_host"), record.Say("mount_unified"))
	}
	return yes(record.Say("psi_by_group"))
}

// The memory and disk space that a run with the built-in loads needs, in bytes.
const (
	enoughMemory = 1 << 30
	enoughSpace  = 2 << 30
)

func freeMemory(f proc.FS) facts.Support {
	m, err := f.Amounts("proc/meminfo", "MemAvailable", "MemTotal")
	if err != nil {
		return facts.Unclear(err)
	}
	found := record.Say("memory_available", "available", m[0], "total", m[1])
	switch {
	case !(m[0] >= 0):
		return unknown(record.Say("memory_unknown"))
	case m[0] < enoughMemory:
		return facts.Unsupported(found, record.Say("end_programs"))
	}
	return yes(found)
}

func freeSpace(scratch string) facts.Support {
	room, err := reserve.OfDir(scratch, otherScratch)
	if err != nil {
		return facts.Support{Answer: facts.Unknown, Reason: record.InProse(err.Error()), Remedy: record.Say("other_scratch")}
	}
	if err := reserve.Err(room...); err != nil {
		return facts.Refused(err)
	}
	if free := room[0].Free - room[0].Bound; free < enoughSpace {
		return facts.Unsupported(record.Say("space_beyond", "free", room[0].Free, "dir", scratch, "beyond", free), record.Say("make_room"))
	}
	return yes(record.Say("space_free", "free", room[0].Free, "dir", scratch))
}

// qosLevel asks the mechanism, which knows the file that openEuler's kernel has.
func qosLevel(h facts.Host) facts.Support {
	m, _ := isolation.Find(isolation.QoSLevel)
	s := m.Support(h)
	if s.Answer == facts.Yes {
		return named(isolation.QoSLevel)
	}
	return s
}
