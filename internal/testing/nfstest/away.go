package nfstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Away is an NFS 4 server in a network namespace of its own, with a host name and an address of its
// own. A client takes two such servers for two machines.
type Away struct {
	Address string
	Dir     string // the exported directory: Address:Dir
	Disk    string // mount point of the file system that holds Dir and nothing else

	t      testing.TB
	outer  string    // the test's end of the veth pair to the server
	keeper *exec.Cmd // a process that keeps the server's namespaces
	empty  func()    // ends Fill
}

// last is the number of the server that this process started last.
var last int

// StartAway starts a server with a disk of size MiB, until the end of the test. Tests that run
// in parallel must start their servers one after the other.
func StartAway(t testing.TB, size int) *Away {
	t.Helper()
	testneed.Long(t, "uml")
	testneed.Root(t)
	for _, tool := range []string{"mount.nfs", "rpc.nfsd", "nfsdcld", "rpc.mountd", "exportfs", "ip", "tc", "unshare", "nsenter", "modprobe", "mkfs.ext4"} {
		testneed.Tool(t, tool)
	}
	last++
	a := &Away{Address: fmt.Sprintf("10.77.%d.2", last), outer: fmt.Sprintf("away%d", last), t: t}
	a.must("modprobe", "-a", "nfsd", "nfs", "nfsv4", "veth", "sch_netem", "loop")
	a.disk(size)
	a.namespace()
	if err := a.serverFiles(); err != nil {
		t.Fatal(err)
	}
	a.Export()
	a.daemons()
	a.Serve(4)
	return a
}

// disk makes the server's file system.
func (a *Away) disk(size int) {
	a.t.Helper()
	image := filepath.Join(a.t.TempDir(), "disk")
	a.Disk = filepath.Join(a.t.TempDir(), "disk")
	a.Dir = filepath.Join(a.Disk, "export")
	a.must("mkfs.ext4", "-q", image, fmt.Sprintf("%dM", size))
	if err := os.Mkdir(a.Disk, 0o755); err != nil {
		a.t.Fatal(err)
	}
	a.must("mount", "-o", "loop", image, a.Disk)
	a.t.Cleanup(func() { a.run("umount", a.Disk) })
	if err := os.Mkdir(a.Dir, 0o755); err != nil {
		a.t.Fatal(err)
	}
}

// namespace makes the server's namespaces and a veth pair to them. Both end with the keeper process.
func (a *Away) namespace() {
	a.t.Helper()
	a.keeper = exec.Command("unshare", "--net", "--mount", "--uts", "--propagation", "private",
		"sh", "-c", "echo; exec sleep 1000000")
	ready, err := a.keeper.StdoutPipe()
	if err == nil {
		err = a.keeper.Start()
	}
	if err == nil {
		_, err = ready.Read(make([]byte, 1)) // the namespaces exist
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		_ = a.keeper.Process.Kill()
		_ = a.keeper.Wait()
	})
	inner := a.outer + "i"
	a.must("ip", "link", "add", a.outer, "type", "veth", "peer", "name", inner, "netns", fmt.Sprint(a.keeper.Process.Pid))
	a.t.Cleanup(func() { a.run("ip", "link", "del", a.outer) })
	a.must("ip", "address", "add", strings.TrimSuffix(a.Address, "2")+"1/24", "dev", a.outer)
	a.must("ip", "link", "set", a.outer, "up")
	a.inside("ip", "address", "add", a.Address+"/24", "dev", inner)
	a.inside("ip", "link", "set", inner, "up")
	a.inside("ip", "link", "set", "lo", "up")
}

// serverFiles makes the files that a separate server needs: its state directory, and the kernel's NFS
// files of this namespace. It also sets the host name, by which a client tells servers apart.
func (a *Away) serverFiles() error {
	return a.inside("sh", "-ec", `mount -t tmpfs state /var/lib/nfs
		mkdir /var/lib/nfs/nfsdcld /var/lib/nfs/rpc_pipefs
		mount -t rpc_pipefs pipes /var/lib/nfs/rpc_pipefs
		touch /var/lib/nfs/etab /var/lib/nfs/rmtab
		hostname `+a.outer+`
		mount -t nfsd nfsd /proc/fs/nfsd
		echo 10 >/proc/fs/nfsd/nfsv4leasetime
		echo 10 >/proc/fs/nfsd/nfsv4gracetime`)
}

// daemons starts the two programs that the kernel's NFS server asks: rpc.mountd says which clients may
// mount, nfsdcld which clients the server had before its start. Without nfsdcld the server makes all
// clients wait for its grace period.
func (a *Away) daemons() {
	a.t.Helper()
	var all []*exec.Cmd
	for _, words := range [][]string{{"nfsdcld", "-F", "-p", "/var/lib/nfs/rpc_pipefs"}, {"rpc.mountd", "-F", "-N", "3"}} {
		cmd := a.command(words[0], words[1:]...)
		if err := cmd.Start(); err != nil {
			a.t.Fatal(err)
		}
		all = append(all, cmd)
	}
	a.t.Cleanup(func() {
		a.Serve(0)
		a.inside("exportfs", "-f") // otherwise the kernel's cache of exports keeps the disk busy
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

// Serve sets the number of the server's threads; 0 stops it.
func (a *Away) Serve(threads int) {
	a.t.Helper()
	a.inside("rpc.nfsd", "-N", "3", "-V", "4.2", fmt.Sprint(threads))
}

// clients is the argument of exportfs: the subnet that may mount, and the directory.
func (a *Away) clients() string { return strings.TrimSuffix(a.Address, "2") + "0/24:" + a.Dir }

// Export exports the directory, until Withdraw.
func (a *Away) Export() {
	a.t.Helper()
	a.inside("exportfs", "-i", "-o", "rw,sync,no_root_squash,no_subtree_check,insecure", a.clients())
}

// Withdraw ends the export of the directory.
func (a *Away) Withdraw() {
	a.t.Helper()
	a.inside("exportfs", "-u", a.clients())
	a.inside("exportfs", "-f")
}

// Volume is the server's export as the volume level of an experiment: nfs:ADDRESS:DIR with options.
func (a *Away) Volume(options string) string {
	return "nfs:" + a.Address + ":" + a.Dir + ",vers=4.2" + options
}

// Delay delays every packet from the server, and so every round trip.
func (a *Away) Delay(by time.Duration) {
	a.t.Helper()
	a.inside("tc", "qdisc", "replace", "dev", a.outer+"i", "root", "netem", "delay", by.String(), "limit", "100000")
}

// Cut drops all packets, in both directions, until Mend.
func (a *Away) Cut() {
	a.t.Helper()
	a.inside("tc", "qdisc", "replace", "dev", a.outer+"i", "root", "netem", "loss", "100%")
	a.must("tc", "qdisc", "replace", "dev", a.outer, "root", "netem", "loss", "100%")
}

// Mend ends Cut.
func (a *Away) Mend() {
	a.t.Helper()
	a.inside("tc", "qdisc", "del", "dev", a.outer+"i", "root")
	a.must("tc", "qdisc", "del", "dev", a.outer, "root")
}

// Fill uses up all space on the server's disk, including space that becomes free later, until Empty.
func (a *Away) Fill() {
	a.t.Helper()
	f, err := os.Create(filepath.Join(a.Disk, "fill"))
	if err != nil {
		a.t.Fatal(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	a.empty = sync.OnceFunc(func() {
		close(end)
		<-ended
		f.Close()
		if err := os.Remove(f.Name()); err != nil {
			a.t.Error(err)
		}
	})
	a.t.Cleanup(a.empty)
	go func() {
		defer close(ended)
		for {
			for size := 1 << 20; size > 0; {
				if _, err := f.Write(make([]byte, size)); err != nil { // ENOSPC
					size /= 2
				}
			}
			_ = f.Sync() // delayed writes are on the disk now, or have failed
			select {
			case <-end:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
}

// Empty ends Fill.
func (a *Away) Empty() { a.empty() }

// Names are the names in the exported directory.
func (a *Away) Names() (names []string) {
	a.t.Helper()
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// command is a command in the server's namespaces.
func (a *Away) command(name string, args ...string) *exec.Cmd {
	in := []string{"-t", fmt.Sprint(a.keeper.Process.Pid), "-n", "-m", "-u", name}
	return exec.Command("nsenter", append(in, args...)...)
}

func (a *Away) inside(name string, args ...string) error {
	a.t.Helper()
	out, err := a.command(name, args...).CombinedOutput()
	if err != nil {
		a.t.Errorf("%s %s at the server: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return err
}

func (a *Away) run(name string, args ...string) error {
	a.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		a.t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return err
}

func (a *Away) must(name string, args ...string) {
	a.t.Helper()
	if err := a.run(name, args...); err != nil {
		a.t.FailNow()
	}
}
