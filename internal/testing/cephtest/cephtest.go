// Package cephtest starts and stops a Ceph cluster for tests: one monitor, one manager and one OSD
// (called the store here), on loopback, in a directory of their own and without authentication. On
// request it adds a CephFS file system and its metadata server. It needs root to map images.
package cephtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// patience is the time limit of each step; it does not measure speed.
const patience = 3 * time.Minute

// Pool is the name of the cluster's pool.
const Pool = "rbd"

// Cluster is a running cluster.
type Cluster struct {
	Config string // path of the configuration file, for CEPH_CONF

	t     testing.TB
	dir   string
	first int // first of the ports that its servers use
	mon   *daemon
	store *daemon
}

// Start starts a cluster until the end of the test. The daemons are children of this process
// and end with it.
func Start(t testing.TB) *Cluster {
	t.Helper()
	testneed.Root(t)
	for _, tool := range []string{"ceph-mon", "ceph-mgr", "ceph-osd", "ceph", "rbd"} {
		testneed.Tool(t, tool)
	}
	c := &Cluster{t: t, dir: t.TempDir()}
	c.Config = filepath.Join(c.dir, "ceph.conf")
	t.Cleanup(c.explain) // runs after all daemons have ended
	c.first = freePorts(t)
	address := fmt.Sprintf("[v2:127.0.0.1:%d/0,v1:127.0.0.1:%d/0]", c.first, c.first+1)
	c.configure(address)
	began := time.Now()
	c.Run("ceph-mon", "--mkfs", "-i", "a", "--public-addrv", address)
	c.mon = c.daemon("ceph-mon", "a")
	c.daemon("ceph-mgr", "x")
	store := uuid()
	c.Run("ceph", "osd", "new", store)
	c.Run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", store)
	c.StartStore()
	c.Run("ceph", "osd", "pool", "create", Pool, "8")
	c.Run("rbd", "pool", "init", Pool) // waits until the store is up
	for !strings.Contains(c.Run("ceph", "df"), Pool) && time.Since(began) < patience {
		time.Sleep(100 * time.Millisecond) // ceph df lists the pool when the manager has its statistics
	}
	t.Logf("the cluster took %.0f s", time.Since(began).Seconds())
	return c
}

// Run runs one of Ceph's tools to its end and returns its output.
func (c *Cluster) Run(tool string, args ...string) string {
	c.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	out, err := exec.CommandContext(ctx, tool, append([]string{"--conf", c.Config}, args...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

// Images are the names of the images in the pool.
func (c *Cluster) Images() []string {
	c.t.Helper()
	return strings.Fields(c.Run("rbd", "ls", Pool))
}

// Ports are the first port of its servers, and their number.
func (c *Cluster) Ports() (first, many int) { return c.first, ports }

// FileSystem makes a file system with a metadata server.
func (c *Cluster) FileSystem(name string) {
	c.t.Helper()
	testneed.Tool(c.t, "ceph-mds")
	c.Run("ceph", "osd", "pool", "create", name+"-meta", "8")
	c.Run("ceph", "osd", "pool", "create", name+"-data", "8")
	c.Run("ceph", "fs", "new", name, name+"-meta", name+"-data")
	c.daemon("ceph-mds", "m")
	for began := time.Now(); !strings.Contains(c.Run("ceph", "mds", "stat"), "up:active"); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > patience {
			c.t.Fatal("the server of the file system is not active")
		}
	}
}

// KillStore kills the store (SIGKILL): the cluster still answers, but requests for data wait.
func (c *Cluster) KillStore() { c.store.end() }

// StartStore starts the store again. It still has all data that it had acknowledged.
func (c *Cluster) StartStore() {
	c.t.Helper()
	if err := c.startStore(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) startStore() error {
	d, err := c.start("ceph-osd", "0")
	if err == nil {
		c.store = d
	}
	return err
}

// Stop ends the monitor: the cluster no longer answers.
func (c *Cluster) Stop() { c.mon.end() }

// explain logs the daemons' output if the test failed.
func (c *Cluster) explain() {
	if !c.t.Failed() {
		return
	}
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.out"))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		c.t.Logf("%s:\n%s", filepath.Base(f), b[max(0, len(b)-4000):])
	}
}

// daemon is a server process of the cluster.
type daemon struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// daemon starts a daemon, or fails the test.
func (c *Cluster) daemon(program, id string) *daemon {
	c.t.Helper()
	d, err := c.start(program, id)
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// start starts a daemon in the foreground; it ends with the test. Any goroutine may call it.
func (c *Cluster) start(program, id string) (*daemon, error) {
	log, err := os.OpenFile(filepath.Join(c.dir, program+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, "--conf", c.Config, "-i", id, "-f")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	d := &daemon{cmd, make(chan struct{})}
	if err := child.Start(cmd, func(error) { close(d.done) }); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	c.t.Cleanup(d.end)
	return d, nil
}

// end kills the daemon and waits for it. It may be called twice.
func (d *daemon) end() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

// configure writes the file that all daemons and tools read. With its watch timeout of 5 s an image is
// soon not in use any more after its client was killed.
func (c *Cluster) configure(address string) {
	c.t.Helper()
	text := fmt.Sprintf(`[global]
fsid = %s
mon host = %s
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
mon data avail crit = 1
mon data avail warn = 1
osd objectstore = bluestore
bluestore block size = 2147483648
osd client watch timeout = 5
mgr initial modules =
admin socket =
run dir = %[3]s
crash dir = %[3]s
log file = %[3]s/$name.log
mon cluster log file = %[3]s/cluster.log
mon data = %[3]s/mon
osd data = %[3]s/osd
mgr data = %[3]s/mgr
mds data = %[3]s/mds
ms bind port min = %[4]d
ms bind port max = %[5]d
`, uuid(), address, c.dir, c.first+2, c.first+ports-2) // the last port is for orders
	for _, dir := range []string{"mon", "osd", "mgr", "mds"} {
		if err := os.Mkdir(filepath.Join(c.dir, dir), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.Config, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// ports is the largest number of ports that a cluster uses.
const ports = 32

// freePorts returns the first of some ports (the number ports) on loopback that are free now. They are
// below the range from which the kernel takes ports for clients.
func freePorts(t testing.TB) int {
	t.Helper()
	const first, many = 10000, 20000
	for i := 0; i < many; i += ports {
		at := first + (os.Getpid()*ports+i)%many
		if allFree(at) {
			return at
		}
	}
	t.Fatal("no ports are free")
	return 0
}

func allFree(first int) bool {
	for port := first; port < first+ports; port++ {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		defer l.Close()
	}
	return true
}

func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
