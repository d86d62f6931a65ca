package storage

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/tarelab/tare/record"
)

// Warnings are settings of the mount that are wrong for durable data or for speed, each with
// its remedy.
func (f Facts) Warnings() []record.Warning {
	var out []record.Warning
	add := func(text, remedy string) {
		out = append(out, record.Warning{
			Text: record.InProse(fmt.Sprintf("%s on %s: %s", f.Mount.Type, f.Mount.Point, text)), Remedy: record.InProse(remedy),
		})
	}
	switch f.Mount.Type {
	case "nfs", "nfs4":
		f.nfs(add)
	case "ceph", "fuse.ceph", "fuse.ceph-fuse":
		f.ceph(add)
	}
	if f.NoBarrier() {
		add("mounted without write barriers: committed data can be lost when a device that caches writes loses power", "mount it without nobarrier or barrier=0")
	}
	if f.Lowest.Point != f.Mount.Point && !f.Memory() { // the file system below a loop device
		under := Facts{Mount: f.Lowest, Lowest: f.Lowest, Options: options(f.Lowest)}
		out = append(out, under.Warnings()...)
	}
	if f.Memory() {
		add("in memory: nothing survives the unmount, and a sync waits for nothing", "compare it only with other volumes in memory")
	}
	return out
}

// NoBarrier says that a sync does not flush the device's cache.
func (f Facts) NoBarrier() bool { return f.Has("nobarrier") || f.Has("barrier=0") }

// nfs warns about options of nfs(5).
func (f Facts) nfs(add func(text, remedy string)) {
	if f.Has("soft") || f.Has("softerr") {
		add("soft: a server that does not answer in time makes writes fail silently, and data is lost", "mount it with hard")
	}
	if p := f.Option("proto"); p == "udp" || p == "udp6" || f.Has("udp") {
		add("over UDP: fragments of different requests can be put together on a fast network, which corrupts data, and losses cost whole requests", "mount it with proto=tcp")
	}
	if f.Has("nolock") || f.Has("local_lock=all") || f.Has("local_lock=flock") || f.Has("local_lock=posix") {
		add("locks are not sent to the server: two hosts can open the same database", "mount it without nolock and local_lock, or with vers=4.2")
	}
	if f.Has("noac") || f.Has("actimeo=0") || f.Has("acregmax=0") || f.Has("sync") {
		add("every attribute or write goes to the server at once, which costs speed", "mount it without noac, actimeo=0 and sync, unless they are what is to be measured")
	}
	for _, name := range []string{"rsize", "wsize"} {
		if n, err := strconv.Atoi(f.Option(name)); err == nil && n < 64<<10 {
			add(fmt.Sprintf("%s is %d bytes: large transfers are cut into many requests", name, n), "mount it with "+name+"=1048576")
		}
	}
	if f.Has("fsc") {
		add("fsc: a local disk answers reads, and not the server", "mount it without fsc")
	}
	if f.Has("nocto") {
		add("nocto: the client does not look for changes by other hosts when it opens a file, which saves requests", "mount it without nocto, or with it in all arms")
	}
	if here(f.Option("addr")) {
		add("the server is this host: it takes CPU time and disk time from the load, and no network lies between them", "name a server on another host, or read the result as one of this host alone")
	}
	add("unknown here: whether the server exports it sync or async. With async, committed data is lost when the server crashes", "on the server, exportfs -v shows it; export with sync")
}

// ceph warns about options of mount.ceph(8).
func (f Facts) ceph(add func(text, remedy string)) {
	if f.Option("recover_session") == "clean" {
		add("recover_session=clean: a client that was blocked drops its unwritten data and goes on", "mount it with recover_session=no")
	}
}

// here says whether an address is one of this host.
func here(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil || a.IsLoopback() {
		return err == nil
	}
	all, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(all, func(n net.Addr) bool {
		p, err := netip.ParsePrefix(n.String())
		return err == nil && p.Addr() == a
	})
}
