// Package nfstest starts and stops the NFS server of this machine's kernel on loopback for
// tests. The machine must have no other use: it is that of make uml.
package nfstest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Server exports one directory.
type Server struct {
	Dir string // the exported directory: SERVER:Dir
	t   testing.TB
}

// Start starts a server until the end of the test.
func Start(t testing.TB) *Server {
	t.Helper()
	testneed.Long(t, "uml")
	testneed.Root(t)
	for _, tool := range []string{"mount.nfs", "rpc.nfsd", "nfsdcld", "rpc.mountd", "rpcbind", "exportfs", "tc", "modprobe"} {
		testneed.Tool(t, tool)
	}
	s := &Server{Dir: filepath.Join(t.TempDir(), "export"), t: t}
	if err := os.Mkdir(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.run("modprobe", "-a", "nfsd", "nfs", "nfsv4", "sch_netem", "sch_prio", "cls_u32")
	if _, err := os.Stat("/proc/fs/nfsd/threads"); err != nil {
		s.run("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
	}
	for _, name := range []string{"nfsv4leasetime", "nfsv4gracetime"} {
		if err := os.WriteFile("/proc/fs/nfsd/"+name, []byte("10"), 0); err != nil {
			t.Fatal(err)
		}
	}
	s.run("exportfs", "-i", "-o", "rw,sync,no_root_squash,no_subtree_check,insecure", "127.0.0.0/8:"+s.Dir)
	t.Cleanup(func() { s.run("exportfs", "-u", "127.0.0.0/8:"+s.Dir) })
	// A server that is not told which clients it had makes all clients wait for its grace
	// period.
	const pipes = "/run/rpc_pipefs"
	if err := os.Mkdir(pipes, 0o755); err == nil {
		s.run("mount", "-t", "rpc_pipefs", "pipes", pipes)
	}
	s.daemon("nfsdcld", "-F", "-p", pipes)
	s.daemon("rpcbind", "-f")
	s.daemon("rpc.mountd", "-F")
	s.Serve(4)
	t.Cleanup(func() { s.Serve(0) })
	return s
}

// daemon runs a program in the foreground until the end of the test.
func (s *Server) daemon(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if name == "rpcbind" { // the others register with it, which fails before it listens
		for range 300 {
			if c, err := net.Dial("tcp", "127.0.0.1:111"); err == nil {
				c.Close()
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		s.t.Fatal("rpcbind does not listen")
	}
}

// Serve sets the number of the server's threads; 0 stops it.
func (s *Server) Serve(threads int) { s.run("rpc.nfsd", "-V", "3", fmt.Sprint(threads)) }

// Delay delays every packet to an address of loopback, until the end of the test.
func (s *Server) Delay(address string, by time.Duration) {
	s.t.Helper()
	s.run("tc", "qdisc", "add", "dev", "lo", "root", "handle", "1:", "prio", "bands", "4")
	s.t.Cleanup(func() { s.run("tc", "qdisc", "del", "dev", "lo", "root") })
	s.run("tc", "qdisc", "add", "dev", "lo", "parent", "1:4", "handle", "40:", "netem", "delay", by.String(), "limit", "100000")
	s.run("tc", "filter", "add", "dev", "lo", "parent", "1:", "protocol", "ip", "prio", "1",
		"u32", "match", "ip", "dst", address+"/32", "flowid", "1:4")
}

// Names are the names in the exported directory.
func (s *Server) Names() (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (s *Server) run(name string, args ...string) {
	s.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		s.t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
