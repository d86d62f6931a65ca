package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/reserve"
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
	if h.Container != "" {
		return no(h.ContainerRemedy, "%s", h.Container)
	}
	return yes(noContainer)
}

func root(h facts.Host) facts.Support {
	if h.Root {
		return yes(userID, 0)
	}
	return no(runAsRoot, userID, os.Geteuid())
}

func groups(h facts.Host) facts.Support {
	if h.Groups == nil {
		return no(h.GroupsRemedy, "%s", cmp.Or(h.GroupsWhy, noGroupsMounted))
	}
	return yes("%s", h.Groups.Layout)
}

// wanted are the controllers of the control group rung, by their names in version 2.
var wanted = [...]string{"cpu", "cpuset", "memory", "io", "pids"}

func controllers(h facts.Host) facts.Support {
	if h.Groups == nil {
		return unknown("", noGroups)
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
		return no(enableThem, missingThese, strings.Join(missing, ", "))
	}
	if kept := h.Groups.StillEnabled(); kept != nil {
		return no(kept.Remedy(), "%v", kept)
	}
	return yes("%s", strings.Join(slices.Compact(have), ", "))
}

// OwnLimit is the memory limit of this process that the arms do not have, in words; empty: there is none.
func OwnLimit(h facts.Host) string {
	if h.Groups == nil {
		return ""
	}
	if limit := h.Groups.OwnMemory(); limit > 0 {
		return fmt.Sprintf(ownMemory, quantity.Bytes(float64(limit)))
	}
	return ""
}

func ownLimit(h facts.Host) facts.Support {
	if text := OwnLimit(h); text != "" {
		return no(limitArms, "%s", text)
	}
	return yes(noOwnLimit)
}

func freezer(h facts.Host) facts.Support {
	if h.Freezer != "" {
		return yes("%s", h.Freezer)
	}
	return no(freezeAsRoot, "%s", cmp.Or(h.FreezeWhy, noFreezer))
}

// psi checks for pressure accounting of the host and of control groups.
func psi(f proc.FS, h facts.Host) facts.Support {
	b, err := f.Text("proc/pressure/cpu")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return no(usePSI, noPSI)
	case errors.Is(err, unix.EOPNOTSUPP):
		return no(startWithPSI, psiOff)
	case err != nil:
		return unknown("", "%v", err)
	}
	if some, _ := proc.Pressure(b); math.IsNaN(some) {
		return unknown("", psiUnreadable)
	}
	if h.Groups != nil && h.Groups.V2 == "" {
		return no(mountUnified, hostPSIOnly)
	}
	return yes(byGroup)
}

// The memory and disk space that a run with the built-in loads needs, in bytes.
const (
	enoughMemory = 1 << 30
	enoughSpace  = 2 << 30
)

func freeMemory(f proc.FS) facts.Support {
	m, err := f.Amounts("proc/meminfo", "MemAvailable", "MemTotal")
	if err != nil {
		return unknown("", "%v", err)
	}
	switch {
	case !(m[0] >= 0):
		return unknown("", memoryUnknown)
	case m[0] < enoughMemory:
		return no(lessMemory, available, size(m[0]), size(m[1]))
	}
	return yes(available, size(m[0]), size(m[1]))
}

func freeSpace(scratch string) facts.Support {
	room, err := reserve.OfDir(scratch, otherDisk)
	if err != nil {
		return unknown(otherScratch, "%v", err)
	}
	if err := reserve.Err(room...); err != nil {
		return no(hint.Of(err), "%v", err)
	}
	if free := room[0].Free - room[0].Bound; free < enoughSpace {
		return no(makeRoom, freeBeyond, size(float64(room[0].Free)), scratch, size(float64(free)))
	}
	return yes(freeHere, size(float64(room[0].Free)), scratch)
}

func size(bytes float64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; bytes >= 1024 && i < len(units)-1; i++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.3g %s", bytes, units[i])
}

// qosLevel asks the mechanism, which knows the file that openEuler's kernel has.
func qosLevel(h facts.Host) facts.Support {
	m, _ := isolation.Find(isolation.QoSLevel)
	s := m.Support(h)
	if s.Answer == facts.Yes {
		return yes(isolation.QoSLevel)
	}
	return s
}
