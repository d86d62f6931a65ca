package volume

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// asking bounds the question for the addresses of a server.
const asking = 5 * time.Second

// Apart returns an error if two of these volumes are two ways to one NFS server of which the kernel
// would use one for both, or if a mount on this host has another way to the server than a volume asks
// for. Both would be measured as two and be one.
func Apart(root proc.FS, all []Volume) error {
	var nfs []Volume
	for _, v := range all {
		if v.Kind() == NFS && !slices.Contains(nfs, v) {
			nfs = append(nfs, v)
		}
	}
	addresses := map[string][]string{}
	for _, v := range nfs {
		if addresses[v.server()] == nil {
			addresses[v.server()] = lookUp(v.server())
		}
	}
	for i, v := range nfs {
		for _, w := range nfs[:i] {
			if why := oneClient(v, w, addresses); why != "" {
				return hint.New(fmt.Errorf("volumes %s and %s are two ways to one NFS server, and the kernel uses one connection for both: %s", w, v, why), apartBy(v, w))
			}
		}
	}
	mounts, err := root.Mounts()
	if err != nil {
		return nil // the options are read back after the mount
	}
	for _, v := range nfs {
		if m, why := mountedOtherwise(v, mounts, addresses[v.server()]); why != "" {
			return hint.New(fmt.Errorf("volume %s: the server is mounted on %s already, and the kernel uses the connection of that mount: %s", v, m.Point, why),
				"umount "+m.Point+", or ask for the options that it has")
		}
	}
	return nil
}

// apartBy is the remedy for two volumes: versions differ in what mounts share.
func apartBy(v, w Volume) string {
	a, b := connectionOf(v.options), connectionOf(w.options)
	if a.version == "3" || a.proto == b.proto && a.number == b.number && v.server() == w.server() {
		return "compare them in two runs"
	}
	return apartNFS
}

func lookUp(server string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	all, _ := net.DefaultResolver.LookupHost(ctx, server)
	return append(all, server)
}

// oneClient says in what two volumes differ for which the kernel has one client of the server; empty:
// nothing, or it has two. Version 4 finds one server behind several addresses, ports and transports.
func oneClient(v, w Volume, addresses map[string][]string) string {
	a, b := connectionOf(v.options), connectionOf(w.options)
	of := addresses[w.server()]
	if a.version != b.version || !slices.ContainsFunc(addresses[v.server()], func(x string) bool { return slices.Contains(of, x) }) {
		return ""
	}
	if a.version == "3" && (a.proto != b.proto || a.number != b.number) {
		return ""
	}
	return b.differs(a)
}

// mountedOtherwise finds a mount of the server whose connection differs from that of a volume and would
// be used for it.
func mountedOtherwise(v Volume, mounts []proc.Mount, addresses []string) (proc.Mount, string) {
	asked := connectionOf(v.options)
	for _, m := range mounts {
		f := storage.OptionsOf(m)
		has := connectionOf(strings.Join(f.Options, ","))
		if !strings.HasPrefix(m.Type, "nfs") || !slices.Contains(addresses, f.Option("addr")) || has.version != asked.version ||
			asked.version == "3" && (asked.proto != has.proto || asked.number != has.number) {
			continue
		}
		if asked.callback == "" {
			has.callback = ""
		}
		if why := asked.differs(has); why != "" {
			return m, why
		}
	}
	return proc.Mount{}, ""
}

// Shared says which of these volumes share what a comparison of them is meant to compare: one file
// system, one NFS server's connection, or one disk. scratch is the directory of bind.
func Shared(root proc.FS, scratch string, all []Volume) (lines []record.Said) {
	type place struct {
		v Volume
		f storage.Facts
	}
	var places []place
	for _, v := range all {
		dir := map[string]string{Dir: v.path, Bind: scratch}[v.Kind()]
		if dir == "" && v.Kind() != NFS || slices.ContainsFunc(places, func(p place) bool { return p.v == v }) {
			continue
		}
		f := storage.Facts{}
		if dir != "" {
			var err error
			if f, err = storage.Of(root, dir); err != nil {
				continue // There says why
			}
		}
		places = append(places, place{v, f})
	}
	for i, p := range places {
		for _, q := range places[:i] {
			if what := sharedBy(p.v, q.v, p.f, q.f); !what.IsZero() {
				lines = append(lines, what)
			}
		}
	}
	return lines
}

// sharedBy says what two places share, w first; nothing where nothing shows.
func sharedBy(v, w Volume, f, g storage.Facts) record.Said {
	one, other := w.String(), v.String()
	switch {
	case v.Kind() == NFS && w.Kind() == NFS:
	case v.Kind() == NFS || w.Kind() == NFS:
		share, mount := v, g
		if w.Kind() == NFS {
			share, mount = w, f
		}
		a := mount.Option("addr")
		if strings.HasPrefix(mount.Mount.Type, "nfs") && slices.Contains(lookUp(share.server()), a) {
			return record.Say("volumes_on_one_server", "volume", one, "other", other, "address", a)
		}
	case f.Mount.Major == g.Mount.Major && f.Mount.Minor == g.Mount.Minor:
		return record.Say("volumes_on_one_file_system", "volume", one, "other", other, "system", f.Mount.Type, "source", f.Mount.Source)
	case strings.HasPrefix(f.Mount.Type, "nfs") && strings.HasPrefix(g.Mount.Type, "nfs"):
		if a := f.Option("addr"); a != "" && a == g.Option("addr") {
			return record.Say("volumes_on_one_server", "volume", one, "other", other, "address", a)
		}
	default:
		if d := commonDevice(f, g); d != "" {
			return record.Say("volumes_on_one_disk", "volume", one, "other", other, "disk", d)
		}
	}
	return record.Said{}
}

// commonDevice is the first device below both of two file systems; empty: there is none.
func commonDevice(f, g storage.Facts) string {
	for _, d := range f.Devices {
		for _, e := range g.Devices {
			if d.Dir == e.Dir {
				return filepath.Base(d.Dir)
			}
		}
	}
	return ""
}
