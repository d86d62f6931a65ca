package volume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/storage"
)

// ofNFS says how the kernel shows the options of nfs(5), after nfs_show_mount_options.
func ofNFS() shown {
	const (
		toMount = "only the request to mount uses it"
		ignored = "the kernel ignores it since 2.6.25"
		repeats = "mountinfo repeats it, whatever port the connection has"
	)
	return shown{
		words: map[string]string{
			"nfsvers=*": "vers=*", "minorversion=*": "vers=4.*", "v3": "vers=3", "v4": "vers=4", "v4.0": "vers=4.0", "v4.1": "vers=4.1", "v4.2": "vers=4.2",
			"tcp": "proto=tcp", "udp": "proto=udp", "rdma": "proto=rdma", "tcp6": "proto=tcp6", "rdma6": "proto=rdma6",
			"actimeo=*": "acregmin=*,acregmax=*,acdirmin=*,acdirmax=*", "noac": "noac,sync", "namelen=*": "namlen=*",
			"lookupcache=positive": "lookupcache=pos", "fsc=*": "fsc",
		},
		absent: map[string]string{
			"ac": "noac", "cto": "nocto", "lock": "nolock", "acl": "noacl", "rdirplus": "nordirplus", "nofsc": "fsc", "nosoftreval": "softreval",
			"notrunkdiscovery": "trunkdiscovery", "acregmin": "3", "acregmax": "60", "acdirmin": "30", "acdirmax": "60", "port": "2049",
			"nconnect": "1", "max_connect": "1", "lookupcache": "all", "write": "lazy", "xprtsec": "none",
		},
		unseen: map[string]string{
			"resvport": repeats, "noresvport": repeats, "intr": ignored, "nointr": ignored, "retry": "only mount.nfs uses it",
			"mountproto": toMount, "mountport": toMount, "mountvers": toMount, "mounthost": toMount, "mountaddr": toMount,
		},
		alike: func(name, want, got string) bool {
			switch name {
			case "proto":
				return family(want) == family(got)
			case "vers":
				return want == "4" && strings.HasPrefix(got, "4.")
			case "sec":
				return slices.Contains(strings.Split(want, ":"), got)
			}
			return false
		},
	}
}

// family is a transport without the address family: the address of the server says which it is.
func family(proto string) string { return strings.TrimSuffix(proto, "6") }

// imposed is an option of the connection that a mount has and that was not asked for; empty: there is
// none. The first mount of a server of version 4 decides about the connection of all.
func imposed(f storage.Facts, asked string) string {
	set := connectionOf(asked)
	given := connectionOf(strings.Join(f.Options, ","))
	for _, x := range []struct{ name, wanted, got string }{
		{"proto", set.proto, given.proto}, {"nconnect", set.nconnect, given.nconnect}, {"max_connect", set.most, given.most},
		{"xprtsec", set.security, given.security},
	} {
		if x.wanted != x.got {
			return x.name + "=" + x.got
		}
	}
	return ""
}

// connection is what mounts of one NFS server share: options of a mount that the kernel applies to its
// client of the server. Options that are left out have their defaults.
type connection struct {
	version                         string // "3"; "4.2", the default
	proto, nconnect, most, security string
	port                            string // resvport or noresvport
	number                          string // of the server's port
	callback                        string // clientaddr; empty: the kernel chooses
}

// connectionOf reads the connection from options as a user writes them, or as mountinfo shows them.
func connectionOf(options string) connection {
	c := connection{version: "4.2", proto: "tcp", nconnect: "1", most: "1", security: "none", port: "resvport"}
	for _, o := range words(options) {
		for _, x := range ofNFS().canonical(o) {
			name, value, _ := strings.Cut(x, "=")
			switch name {
			case "vers":
				c.version = map[bool]string{true: "4.2", false: value}[value == "4"]
			case "proto":
				c.proto = family(value)
			case "nconnect":
				c.nconnect = value
			case "max_connect":
				c.most = value
			case "xprtsec":
				c.security = value
			case "resvport", "noresvport":
				c.port = name
			case "port":
				c.number = value
			case "clientaddr":
				c.callback = value
			}
		}
	}
	c.number = cmp.Or(c.number, map[bool]string{true: "20049", false: "2049"}[c.proto == "rdma"])
	return c
}

// differs names what differs in two connections to one address, for people; empty: nothing.
func (c connection) differs(d connection) string {
	for _, x := range []struct{ name, a, b string }{
		{"proto=", c.proto, d.proto}, {"port=", c.number, d.number}, {"nconnect=", c.nconnect, d.nconnect}, {"max_connect=", c.most, d.most},
		{"xprtsec=", c.security, d.security}, {"", c.port, d.port}, {"clientaddr=", c.callback, d.callback},
	} {
		if x.a != x.b {
			return fmt.Sprintf("%s%s and %s%s", x.name, x.a, x.name, x.b)
		}
	}
	return ""
}
