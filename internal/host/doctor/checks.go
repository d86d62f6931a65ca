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
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/reserve"
)

// Checks asks every question, in the order in which people want the answers:
// who am I, what can the arms be made of, what can be seen, is there room, is
// the machine steady, what else would this kernel have.
func Checks(p Patient) []Check {
	f := proc.FS(p.Root)
	all := []Check{
		{"root", "root", root(p.Host)},
		{"groups", "control groups", groups(p.Host)},
		{"controllers", "controllers", controllers(p.Host)},
		{"freezer", "freezer", freezer(p.Host)},
	}
	for _, name := range facts.Features() {
		all = append(all, Check{name, featureTitle(name), p.Host.Has(name)})
	}
	return append(all,
		Check{"psi", "pressure accounting", psi(f, p.Host)},
		Check{"memory", "free memory", freeMemory(f)},
		Check{"disk", "free space", freeSpace(p.Scratch)},
		Check{"fdatasync", "durable writes", durable(f, p.Scratch)},
		Check{"governor", "CPU frequency", governor(f)},
		Check{"turbo", "turbo frequency", turbo(f)},
		Check{"swap", "swap", swap(f)},
		Check{"clock", "clock", clock(f)},
		Check{"qos", isolation.QoSLevel, qosLevel(p.Host)},
	)
}

func featureTitle(name string) string {
	titles := map[string]string{
		facts.FeatureNamespaces: "namespaces", facts.FeatureOverlay: "overlay root file system",
		facts.FeatureSeccomp: "seccomp and capabilities", facts.FeatureNetwork: "network namespace, veth, bridge",
		facts.FeatureNAT: "port forwarding with nftables", facts.FeatureContainer: "OCI runtime",
		facts.FeatureRealtime: "real-time priority for the controller",
	}
	if t := titles[name]; t != "" {
		return t
	}
	return name
}

func root(h facts.Host) facts.Support {
	if h.Root {
		return yes("user id 0")
	}
	return no("run as root for every rung; without, the host, its twin and what user namespaces allow are compared",
		"user id %d", os.Geteuid())
}

func groups(h facts.Host) facts.Support {
	if h.Groups == nil {
		return no(h.GroupsRemedy, "%s", cmp.Or(h.GroupsWhy, "no control groups are mounted"))
	}
	return yes("%s", h.Groups.Layout)
}

// wanted are the controllers of the control group rung, by their names in version 2.
var wanted = [...]string{"cpu", "cpuset", "memory", "io", "pids"}

func controllers(h facts.Host) facts.Support {
	if h.Groups == nil {
		return unknown("", "no control groups")
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
		return no("enable them on the kernel's command line (cgroup_enable=), mount them, or have them delegated to this user",
			"missing: %s", strings.Join(missing, ", "))
	}
	if kept := h.Groups.StillEnabled(); kept != nil {
		return no(kept.Remedy(), "%v", kept)
	}
	return yes("%s", strings.Join(slices.Compact(have), ", "))
}

func freezer(h facts.Host) facts.Support {
	if h.Freezer != "" {
		return yes("%s", h.Freezer)
	}
	return no("run as root; otherwise the loads pause themselves between windows",
		"%s", cmp.Or(h.FreezeWhy, "no freezer"))
}

// psi looks for pressure accounting, and whether groups have it.
func psi(f proc.FS, h facts.Host) facts.Support {
	b, err := f.Text("proc/pressure/cpu")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return no("use a kernel with CONFIG_PSI (Linux 4.20 and later)", "this kernel has no /proc/pressure")
	case errors.Is(err, unix.EOPNOTSUPP):
		return no("start the kernel with psi=1", "pressure accounting is off")
	case err != nil:
		return unknown("", "%v", err)
	}
	if some, _ := proc.Pressure(b); math.IsNaN(some) {
		return unknown("", "/proc/pressure/cpu cannot be understood")
	}
	if h.Groups != nil && h.Groups.V2 == "" {
		return no("mount control groups of version 2 beside: mount -t cgroup2 none /sys/fs/cgroup/unified",
			"pressure of the whole host only: groups of version 1 have none")
	}
	return yes("by group")
}

// The least that a run with the built-in loads is comfortable with.
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
		return unknown("", "this kernel does not say how much memory is available")
	case m[0] < enoughMemory:
		return no("end other programs, or use smaller tables (--set oltp.rows=...)", "%s available of %s", size(m[0]), size(m[1]))
	}
	return yes("%s available of %s", size(m[0]), size(m[1]))
}

func freeSpace(scratch string) facts.Support {
	room, err := reserve.OfDir(scratch, "name a directory on another file system with --scratch DIR")
	if err != nil {
		return unknown("name another scratch directory", "%v", err)
	}
	if err := reserve.Err(room...); err != nil {
		return no(hint.Of(err), "%v", err)
	}
	if free := room[0].Free - room[0].Bound; free < enoughSpace {
		return no("make room, or name a scratch directory on another file system",
			"%s free in %s, %s beyond what a run leaves free", size(float64(room[0].Free)), scratch, size(float64(free)))
	}
	return yes("%s free in %s", size(float64(room[0].Free)), scratch)
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
