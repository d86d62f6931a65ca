package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The second node shares the machine's CPUs, memory, kernel and programs. It has its own PID, mount,
// network, UTS and IPC namespaces, whose first process is this command, and its own control group for
// its pods.

const firstProcess = "node-2"

// nodeCommand is the hidden command of that process; its arguments are the node's name and directory.
const nodeCommand = "__node"

// ownDirs are directories over which the second node mounts its own, in addition to those of containerd
// and the kubelet.
var ownDirs = append([]string{tareDir, tareRunDir}, directories...)

// tareDir is the directory of tare's journals, tareRunDir that of its lock.
const (
	tareDir    = "/var/lib/tare"
	tareRunDir = "/run/tare"
)

// readyWord is the line that the process prints when the namespaces are ready.
const readyWord = "ready"

// boot makes the node's namespaces, its control group and its network.
func (n node) boot() error {
	for _, dir := range ownDirs {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(n.own(dir), 0o755)); err != nil {
			return err
		}
	}
	if err := makeSecondGroups(); err != nil {
		return err
	}
	if err := n.hold(); err != nil {
		return fmt.Errorf("make the namespaces of node %s: %w", n.name, err)
	}
	if err := n.connect(); err != nil {
		return fmt.Errorf("connect node %s: %w", n.name, err)
	}
	return nil
}

// own is the node's own directory for a directory of the host.
func (n node) own(dir string) string { return n.at("own", strings.ReplaceAll(dir[1:], "/", "-")) }

// hold starts the first process of the node's namespaces and writes its pid to a file. The process waits
// for a byte that is sent after that, and ends if this process is killed before.
func (n node) hold() error {
	log, err := os.Create(n.in("log", firstProcess+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe", nodeCommand, n.name, n.home)
	cmd.Dir, cmd.Stderr = "/", log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _, _ = cmd.Process.Wait() }()
	if err := n.writePid(firstProcess, cmd.Process.Pid); err != nil {
		return err
	}
	if _, err := in.Write([]byte{'\n'}); err != nil {
		return err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != readyWord {
		return fmt.Errorf("%w: %s", err, n.tail(firstProcess))
	}
	return nil
}

// beFirst is the first process of the node's namespaces.
func beFirst(name, home string) error {
	n := node{name: name, home: home}
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGCHLD) // the kernel reaps orphans
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	if err := n.settle(); err != nil {
		return err
	}
	fmt.Println(readyWord)
	<-end
	return nil // the kernel kills all other processes of the node
}

// settle sets up the node's mounts and host name.
func (n node) settle() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("have mounts of its own: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil { // with its pods
		return fmt.Errorf("share mounts with pods: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unmount(temporary); err != nil {
		return err
	}
	for _, dir := range ownDirs {
		if err := unix.Mount(n.own(dir), dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind %s: %w", dir, err)
		}
	}
	if err := unix.Sethostname([]byte(n.name)); err != nil {
		return fmt.Errorf("name the host: %w", err)
	}
	return up("lo", nil)
}

// temporary is true for mounts of others that will be unmounted: the node must not keep them busy.
func temporary(point string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/", "/run/netns/", tareDir + "/", filepath.Clean(os.TempDir()) + "/"} {
		if strings.HasPrefix(point, dir) {
			return true
		}
	}
	return false
}

// inside calls f in the namespaces of the node; processes that f starts are in all of them.
func (n node) inside(f func() error) error {
	if n.mark == "" {
		return f()
	}
	pid := n.pid(firstProcess)
	if pid == 0 {
		return fmt.Errorf("the first process of node %s has ended: %s", n.name, n.tail(firstProcess))
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with this goroutine
		err := enter(pid)
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// enter takes this thread into the namespaces of a process.
func enter(pid int) error {
	names := []string{"uts", "ipc", "net", "pid", "mnt"}
	var files []*os.File
	for _, name := range names {
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, name))
		if err != nil {
			return err
		}
		defer f.Close()
		files = append(files, f)
	}
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	for i, f := range files {
		if err := unix.Setns(int(f.Fd()), 0); err != nil {
			return fmt.Errorf("enter the %s namespace: %w", names[i], err)
		}
	}
	return nil
}

// connect makes the veth pair between the nodes and the routes between their pods. The second node has no
// other connection.
func (n node) connect() error {
	pid := n.pid(firstProcess)
	cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: link[0].name}, PeerName: link[1].name, PeerNamespace: netlink.NsPid(pid)}
	if err := netlink.LinkAdd(cable); err != nil {
		return err
	}
	return errors.Join(
		up(link[0].name, addressOf(0), to(n.pods, link[1].address)),
		n.inside(func() error {
			return up(link[1].name, addressOf(1), to(allPods, link[0].address), to(services, link[0].address))
		}))
}

func addressOf(end int) *netlink.Addr {
	return &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(link[end].address), Mask: net.CIDRMask(linkBits, 32)}}
}

func to(subnet, gateway string) *netlink.Route {
	_, dst, err := net.ParseCIDR(subnet)
	if err != nil {
		panic(err) // they are constants
	}
	return &netlink.Route{Dst: dst, Gw: net.ParseIP(gateway)}
}

// up sets a link up, with an address and routes.
func up(name string, a *netlink.Addr, routes ...*netlink.Route) error {
	l, err := netlink.LinkByName(name)
	if err == nil && a != nil {
		err = netlink.AddrAdd(l, a)
	}
	if err == nil {
		err = netlink.LinkSetUp(l)
	}
	for _, r := range routes {
		if err == nil {
			r.LinkIndex = l.Attrs().Index
			err = netlink.RouteAdd(r)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// hierarchies are the directories that have control groups below.
func hierarchies() []string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.procs"); err == nil {
		return []string{"/sys/fs/cgroup"}
	}
	found, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs") // the pattern is a constant
	seen := map[string]bool{}
	var all []string
	for _, f := range found {
		dir, err := filepath.EvalSymlinks(filepath.Dir(f)) // "cpu" may lead to "cpu,cpuacct"
		if err == nil && !seen[dir] {
			seen[dir] = true
			all = append(all, dir)
		}
	}
	return all
}

// makeSecondGroups makes secondGroup in every hierarchy.
func makeSecondGroups() error {
	for _, h := range hierarchies() {
		dir := filepath.Join(h, secondGroup)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		// On version 1 a new cpuset has no CPUs and no memory nodes.
		for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
			all, err := os.ReadFile(filepath.Join(h, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), all, 0)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
