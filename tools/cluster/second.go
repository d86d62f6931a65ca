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

// The second node shares the machine's CPUs, memory, kernel and programs. It has
// namespaces of its own for processes, mounts, network, the host's name and IPC,
// held by a first process that this command is too, and a control group of its own
// for its pods.

const firstProcess = "node-2"

// nodeCommand is the hidden command of that process: its name, its directory.
const nodeCommand = "__node"

// ownDirs are directories of this host in whose place the second node has some of
// its own, beside those of containerd and the kubelet.
var ownDirs = append([]string{tareDir, tareRunDir}, directories...)

// tareDir is where tare keeps its journals, tareRunDir where it keeps its lock.
const (
	tareDir    = "/var/lib/tare"
	tareRunDir = "/run/tare"
)

// readyWord is what the process says when the namespaces are what they are to be.
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

// own is what the node has in the place of a directory.
func (n node) own(dir string) string { return n.at("own", strings.ReplaceAll(dir[1:], "/", "-")) }

// hold starts the process that is the first in the node's namespaces. It waits for
// a byte: when this process is killed before it has written down which it is, it
// ends.
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

// beFirst is that process.
func beFirst(name, home string) error {
	n := node{name: name, home: home}
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGCHLD) // the kernel buries whose parent has ended
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	if err := n.settle(); err != nil {
		return err
	}
	fmt.Println(readyWord)
	<-end
	return nil // and all others end too
}

// settle makes the mounts and the name of the node its own.
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

// temporary says what others have mounted for a while, which the node must not hold.
func temporary(point string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/", "/run/netns/", tareDir + "/", filepath.Clean(os.TempDir()) + "/"} {
		if strings.HasPrefix(point, dir) {
			return true
		}
	}
	return false
}

// inside calls f in the namespaces of the node; what it starts is in all of them.
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
		runtime.LockOSThread() // for good: the thread ends with this function
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

// connect lays the link between the nodes, and routes between their pods. There is
// no other way out of the second.
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

// up sets a link up, with an address and routes behind it.
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

// makeSecondGroups makes the group that the second node's pods are below.
func makeSecondGroups() error {
	for _, h := range hierarchies() {
		dir := filepath.Join(h, secondGroup)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		// A group of version 1 has no CPUs and no memory until it is given some.
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
