package storage

import (
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
	add := func(why, remedy record.Said) {
		out = append(out, record.Warning{Text: record.Say("of_mount", "type", f.Mount.Type, "point", f.Mount.Point, "why", why), Remedy: remedy})
	}
	switch f.Mount.Type {
	case "nfs", "nfs4":
		f.nfs(add)
	case "ceph", "fuse.ceph", "fuse.ceph-fuse":
		f.ceph(add)
	}
	if f.NoBarrier() {
		add(record.Say("no_write_barriers"), record.Say("mount_with_barriers"))
	}
	if f.Lowest.Point != f.Mount.Point && !f.Memory() { // the file system below a loop device
		under := Facts{Mount: f.Lowest, Lowest: f.Lowest, Options: options(f.Lowest)}
		out = append(out, under.Warnings()...)
	}
	if f.Memory() {
		add(record.Say("volume_in_memory"), record.Say("compare_in_memory"))
	}
	return out
}

// NoBarrier says that a sync does not flush the device's cache.
func (f Facts) NoBarrier() bool { return f.Has("nobarrier") || f.Has("barrier=0") }

// nfs warns about options of nfs(5).
func (f Facts) nfs(add func(why, remedy record.Said)) {
	if f.Has("soft") || f.Has("softerr") {
		add(record.Say("mount_soft"), record.Say("mount_hard"))
	}
	if p := f.Option("proto"); p == "udp" || p == "udp6" || f.Has("udp") {
		add(record.Say("mount_udp"), record.Say("mount_tcp"))
	}
	if f.Has("nolock") || f.Has("local_lock=all") || f.Has("local_lock=flock") || f.Has("local_lock=posix") {
		add(record.Say("local_locks"), record.Say("mount_with_locks"))
	}
	if f.Has("noac") || f.Has("actimeo=0") || f.Has("acregmax=0") || f.Has("sync") {
		add(record.Say("uncached_mount"), record.Say("mount_cached"))
	}
	for _, name := range []string{"rsize", "wsize"} {
		if n, err := strconv.Atoi(f.Option(name)); err == nil && n < 64<<10 {
			add(record.Say("small_transfers", "option", name, "size", n), record.Say("larger_transfers", "option", name))
		}
	}
	if f.Has("fsc") {
		add(record.Say("mount_fsc"), record.Say("mount_without_fsc"))
	}
	if f.Has("nocto") {
		add(record.Say("mount_nocto"), record.Say("mount_with_cto"))
	}
	if here(f.Option("addr")) {
		add(record.Say("server_here"), record.Say("server_elsewhere"))
	}
	add(record.Say("export_unknown"), record.Say("export_sync"))
}

// ceph warns about options of mount.ceph(8).
func (f Facts) ceph(add func(why, remedy record.Said)) {
	if f.Option("recover_session") == "clean" {
		add(record.Say("session_recovers_clean"), record.Say("keep_session"))
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
