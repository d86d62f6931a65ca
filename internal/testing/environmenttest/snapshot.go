package environmenttest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"

	"github.com/tarelab/tare/internal/linux/proc"
)

// Snapshot lists, by kind, the things that an environment can leave behind on the host. Other tests may
// run at the same time. So things that the whole host shares are found by the id of the run in their
// names (see named), and mounts and network interfaces are those of the test's own namespaces (Main).
type Snapshot map[string][]string

// TakeSnapshot takes a snapshot of the host.
func TakeSnapshot(t testing.TB) Snapshot {
	t.Helper()
	s := Snapshot{}
	for kind, look := range map[string]func() ([]string, error){
		"process":    descendants,
		"descriptor": descriptors,
		"namespace":  threadNamespaces,
		"link":       links,
		"rule":       rules,
		"setting":    sysctls,
		"mount":      mounts,
	} {
		list, err := look()
		if err != nil {
			t.Errorf("look for each %s: %v", kind, err)
		}
		slices.Sort(list)
		s[kind] = list
	}
	return s
}

// settleBound is how long the kernel and the Go runtime may take to release closed resources.
const settleBound = time.Minute

// MustEqual fails the test if Left finds a difference within settleBound.
func (s Snapshot) MustEqual(t testing.TB, run string) {
	t.Helper()
	for _, l := range s.Left(t, run, settleBound) {
		t.Error(l)
	}
}

// Left compares the host with the snapshot and looks for names with the id of the run. It returns the
// differences that are still there after the time within.
func (s Snapshot) Left(t testing.TB, run string, within time.Duration) []string {
	t.Helper()
	pause := 10 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		left := append(s.difference(TakeSnapshot(t)), named(run)...)
		if len(left) == 0 || waited >= within {
			return left
		}
		if waited > time.Second {
			pause = time.Second
		}
		time.Sleep(pause)
	}
}

// difference lists what appeared and what disappeared.
func (s Snapshot) difference(now Snapshot) []string {
	var all []string
	for kind := range s {
		for _, item := range minus(now[kind], s[kind]) {
			all = append(all, "left behind: "+kind+" "+item)
		}
		for _, item := range minus(s[kind], now[kind]) {
			if kind == "mount" && !hostHas(item) {
				continue
			}
			all = append(all, "taken away: "+kind+" "+item)
		}
	}
	slices.Sort(all)
	return all
}

// hostHas says whether the host still has a mount that was in this process's own mount namespace. When
// the host unmounts it and removes its directory, the kernel removes the mount here too.
func hostHas(line string) bool {
	its, err := proc.ParseMountInfo([]byte(line + "\n"))
	if err != nil {
		return true
	}
	all, err := proc.FS("/").MountsOf(strconv.Itoa(os.Getppid()))
	return err != nil || slices.ContainsFunc(all, func(m proc.Mount) bool { return m.Point == its[0].Point })
}

// minus is the multiset difference of a and b.
func minus(a, b []string) []string {
	count := map[string]int{}
	for _, item := range b {
		count[item]++
	}
	var rest []string
	for _, item := range a {
		if count[item]--; count[item] < 0 {
			rest = append(rest, item)
		}
	}
	return rest
}

// named lists all cgroups, mounts and state files with the id of a run in their name.
func named(run string) []string {
	var all []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if strings.Contains(d.Name(), run) {
			all = append(all, "left behind: group "+path)
			return fs.SkipDir
		}
		return nil
	})
	for _, dir := range []string{"/run/netns", "/run/runc", "/run/crun", "/run/tare", "/dev/shm", "/dev/mqueue"} {
		names, _ := os.ReadDir(dir)
		for _, n := range names {
			if strings.Contains(n.Name(), run) {
				all = append(all, "left behind: "+filepath.Join(dir, n.Name()))
			}
		}
	}
	list, _ := readLines("/proc/self/mountinfo")
	for _, l := range list {
		if strings.Contains(l, run) {
			all = append(all, "left behind: mount "+l)
		}
	}
	return all
}

// descendants are the descendants of this process, zombies too.
func descendants() ([]string, error) {
	parent := map[int]int{}
	text := map[int]string{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		s := string(b)
		end := strings.LastIndexByte(s, ')')
		f := strings.Fields(s[end+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent[pid], _ = strconv.Atoi(f[1])
		text[pid] = s[:end+1]
		if f[0] == "Z" {
			text[pid] += " not waited for"
		}
	}
	var all []string
	for pid := range parent {
		for p := parent[pid]; p > 1; p = parent[p] {
			if p == os.Getpid() {
				all = append(all, text[pid])
				break
			}
		}
	}
	return all, err
}

// withToken are the processes with a token in their arguments.
func withToken(token string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var all []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		args := strings.Split(string(b), "\x00")
		if err == nil && slices.Contains(args, token) && filepath.Dir(file) != fmt.Sprint("/proc/", os.Getpid()) {
			all = append(all, filepath.Base(filepath.Dir(file))+" "+strings.Join(args[:min(5, len(args))], " "))
		}
	}
	return all
}

var inode = regexp.MustCompile(`^(socket|pipe):\[\d+\]$`)

// descriptors are the open files of this process: namespaces, files of cgroups, pidfds. It skips
// descriptors of the Go runtime, which opens and closes them at any time.
func descriptors() ([]string, error) {
	fds, err := os.ReadDir("/proc/self/fd")
	var all []string
	for _, fd := range fds {
		target, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err != nil || strings.HasPrefix(target, "/proc/") || strings.Contains(target, "[eventpoll]") || strings.Contains(target, "[eventfd]") {
			continue
		}
		all = append(all, inode.ReplaceAllString(target, "$1"))
	}
	return all, err
}

// threadNamespaces are the namespaces of all threads of this process. A thread that an environment has
// left in another namespace would run other goroutines there.
func threadNamespaces() ([]string, error) {
	tasks, err := filepath.Glob("/proc/self/task/*/ns/*")
	var all []string
	for _, task := range tasks {
		if target, err := os.Readlink(task); err == nil && !slices.Contains(all, target) {
			all = append(all, target)
		}
	}
	return all, err
}

// links are the network interfaces of this network namespace.
func links() ([]string, error) {
	list, err := netlink.LinkList()
	var all []string
	for _, l := range list {
		all = append(all, fmt.Sprintf("%s %s master %d", l.Type(), l.Attrs().Name, l.Attrs().MasterIndex))
	}
	return all, err
}

// rules are the tables, chains and rules of nftables.
func rules() ([]string, error) {
	c, err := nftables.New()
	if err != nil {
		return nil, nil // the kernel has no nftables, or this user may not read them
	}
	tables, err := c.ListTables()
	if err != nil {
		return nil, nil
	}
	var all []string
	for _, t := range tables {
		all = append(all, fmt.Sprintf("table %d %s", t.Family, t.Name))
	}
	chains, err := c.ListChains()
	for _, chain := range chains {
		list, _ := c.GetRules(chain.Table, chain)
		if len(list) == 0 && (chain.Table.Name == "kube-proxy" || portChain.MatchString(chain.Name)) {
			continue // being removed: see portChain
		}
		all = append(all, fmt.Sprintf("chain %s %s with %d rules", chain.Table.Name, chain.Name, len(list)))
	}
	return all, err
}

// portChain is a chain that CNI's portmap makes for a pod. It can appear again, empty, after the pod is
// gone: portmap flushes a chain before it removes it, a flush makes a missing chain, and a kubelet
// removes a pod's network several times. kube-proxy also empties the chains of a removed Service at once
// and removes them later.
var portChain = regexp.MustCompile(`^CNI-(SN|DN)-`)

// sysctls are settings of the host that container software often changes.
func sysctls() ([]string, error) {
	var all []string
	for _, name := range []string{
		"net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding", "net/ipv4/conf/all/route_localnet",
		"net/ipv6/conf/all/forwarding", "net/bridge/bridge-nf-call-iptables", "kernel/core_pattern",
		"user/max_user_namespaces", "vm/overcommit_memory", "net/ipv4/ip_unprivileged_port_start",
	} {
		if b, err := os.ReadFile("/proc/sys/" + name); err == nil {
			all = append(all, name+" = "+strings.TrimSpace(string(b)))
		}
	}
	return all, nil
}

// mounts are all mounts if this process has its own mount namespace. In the host's namespace, where
// other programs mount too, they are only the mounts of pods.
func mounts() ([]string, error) {
	if !isolated() {
		return nil, nil
	}
	all, err := readLines("/proc/self/mountinfo")
	all = slices.DeleteFunc(all, engineMount.MatchString)
	if os.Getenv(isolatedEnv) == onHost {
		all = slices.DeleteFunc(all, func(l string) bool { return !podMount.MatchString(l) })
	}
	return all, err
}

// podMount says whether a mount is of a kubelet, of containerd for a pod, or of a pod's network.
var podMount = regexp.MustCompile(`/pods/|/k8s\.io/|/sandboxes/|/netns/cni-`)

// engineMount is Podman's storage, which Podman binds onto itself while it works. A Podman that is
// killed leaves the mount, and the next one uses it.
var engineMount = regexp.MustCompile(` \S*/containers/storage/overlay \S*/containers/storage/overlay `)

func readLines(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	return strings.Split(strings.TrimSpace(string(b)), "\n"), err
}
