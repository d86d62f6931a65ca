package volume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/netmount"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// share matches SERVER:/PATH with options; an IPv6 address is in brackets.
var share = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|\w[\w.-]*):(/[^,\s\x00]*)(?:,([^\s\x00]+))?$`)

// ownNFS are the mount options that tare sets. Arms share neither cache nor counters
// (nosharecache). Device files and setuid programs on the server have no effect here. A server
// that does not answer is tried once, not for two minutes (retry=0).
const ownNFS = "nosharecache,nosuid,nodev,retry=0"

// refusedOptions are mount options that tare refuses: with them it could not vouch for data or undo.
func refusedOptions() []string {
	return []string{"bg", "ro", "remount", "bind", "rbind", "suid", "dev", "user", "users", "owner", "sharecache", "migration", "addr"}
}

func parseNFS(word, rest string) (Volume, error) {
	m := share.FindStringSubmatch(rest)
	if m == nil {
		return Volume{}, fmt.Errorf("volume %q: want nfs:SERVER:/PATH, with mount options behind a comma: nfs:SERVER:/PATH,vers=4.2,nconnect=4", word)
	}
	for _, o := range strings.Split(m[3], ",") {
		if o == "" && m[3] != "" || slices.Contains(refusedOptions(), o) || strings.HasPrefix(o, "retry=") {
			return Volume{}, hint.New(fmt.Errorf("volume %q: mount option %q is not for a volume of an arm", word, o),
				"leave it out: tare mounts it for reading and writing, in the foreground, with "+ownNFS)
		}
	}
	return Volume{kind: NFS, path: m[1] + ":" + m[2], options: m[3]}, nil
}

// exported is SERVER:/PATH,OPTIONS, as the user asked for it.
func (v Volume) exported() string { return strings.TrimSuffix(v.path+","+v.options, ",") }

func (v Volume) mountOptions() string { return strings.TrimPrefix(v.options+","+ownNFS, ",") }

// option is the value of an option that the user asked for, by any of its names.
func (v Volume) option(names ...string) string {
	value := ""
	for _, o := range strings.Split(v.options, ",") {
		if name, x, _ := strings.Cut(o, "="); slices.Contains(names, name) {
			value = x
		}
	}
	return value
}

// openNFS mounts the export and makes the arm's directory on it.
func (o *Opened) openNFS(ctx context.Context) error {
	return o.openShared(ctx, shared{
		kind: netmount.NFS(), source: o.v.path, options: o.v.mountOptions(), granted: o.granted,
		step:   func(s shareStep) journal.Step { return NFSStep{s} },
		rights: "export it rw and with no_root_squash, or name a directory on it that its anonymous user may write to",
	})
}

// granted reads back which options the kernel took, and returns an error where they differ from
// those asked for: servers reduce sizes, and a second mount of one server shares the
// connections of the first. It also measures the round trip to the server.
func (o *Opened) granted(ctx context.Context, m proc.Mount) error {
	f := storage.OptionsOf(m)
	if err := cmp.Or(grantedNFS(f, o.v.options), o.v.alone(f.Option("addr"), m.Point)); err != nil {
		return err
	}
	to := f.Option("addr")
	if all, err := net.DefaultResolver.LookupHost(ctx, o.v.server()); err == nil && to != "" && !slices.Contains(all, to) {
		return hint.New(fmt.Errorf("the kernel asks %s at %s: it found that this is the server of another mount, and uses the connections of that one", o.v.server(), to), apartNFS)
	}
	if family(f.Option("proto")) != "tcp" {
		return nil
	}
	var err error
	if o.roundTrip, err = netmount.Wire(ctx, o.v.address()); errors.Is(err, netmount.ErrSilent) {
		return nil // the port is not known
	}
	return err
}

// alone returns an error if another mount than the one on point has the connection to this address, and
// asked for another kind of it: the kernel does not show all of its properties.
func (v Volume) alone(address, point string) error {
	mounts, err := proc.FS("/").Mounts()
	if err != nil {
		return err
	}
	mounts = slices.DeleteFunc(mounts, func(m proc.Mount) bool { return m.Point == point })
	if m, why := mountedOtherwise(v, mounts, []string{address}); why != "" {
		return hint.New(fmt.Errorf("the kernel uses the connection of the mount on %s: %s", m.Point, why), apartNFS)
	}
	return nil
}

// apartNFS is the remedy for two ways to one NFS server, of which the kernel would use one.
const apartNFS = "of version 4, compare two ways to one server in two runs, or with vers=3"

// grantedNFS compares the options of a mount with those asked for, and with tare's own.
func grantedNFS(f storage.Facts, asked string) error {
	other := ofNFS().refused(f, strings.TrimPrefix(asked+","+ownNFS, ","))
	name, _, _ := strings.Cut(other, "=")
	switch {
	case other == "":
	case slices.Contains([]string{"proto", "tcp", "udp", "rdma", "tcp6", "rdma6", "port", "nconnect", "max_connect", "clientaddr", "xprtsec"}, name):
		return hint.New(fmt.Errorf("asked for %s, and the kernel mounted it with %s: it uses the connection of another mount of that server",
			other, strings.Join(f.Options, ",")), apartNFS+"; or unmount what is mounted of that server")
	default:
		return hint.New(fmt.Errorf("asked for %s, and the kernel mounted it with %s: it has the rest from the server, or from another mount of it",
			other, strings.Join(f.Options, ",")), "ask for what it gave, leave "+name+" out, or unmount what is mounted of that server")
	}
	if other = imposed(f, asked); other != "" {
		return hint.New(fmt.Errorf("the kernel mounted it with %s, which was not asked for: it is from another mount of that server, or from /etc/nfsmount.conf", other),
			"ask for it: "+other+"; or unmount what is mounted of that server")
	}
	return nil
}

// address is host and port of the server.
func (v Volume) address() string {
	return net.JoinHostPort(v.server(), cmp.Or(v.option("port"), "2049"))
}

// server is the name or address of the server.
func (v Volume) server() string { return strings.Trim(v.path[:strings.Index(v.path, ":/")], "[]") }

func (v Volume) supportNFS(h facts.Host) facts.Support {
	if !h.Root {
		return facts.Unsupported(record.Say("user_cannot_mount"), record.Say("root_or_export"))
	}
	if _, err := netmount.NFS().Program(); err != nil {
		return facts.Refused(err)
	}
	if !clientOf("/", "nfs4", "nfs") {
		return facts.Unsupported(record.Say("no_nfs_client"), record.Say("install_nfs_modules"))
	}
	if p := v.option("proto"); strings.HasPrefix(p, "udp") || p == "rdma" || v.option("vers", "nfsvers") == "3" {
		return facts.Supported() // the port is known only after the mount
	}
	if _, err := netmount.Wire(context.Background(), v.address()); err != nil {
		return facts.Refused(err)
	}
	return facts.Supported()
}

// roundTripSetting is the round trip to the server, for the manifest.
func (o *Opened) roundTripSetting() []record.Setting {
	if o.roundTrip == 0 {
		return nil
	}
	return []record.Setting{{Name: "volume.wire", Got: o.roundTrip.Round(time.Microsecond).String()}}
}
