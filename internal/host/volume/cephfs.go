package volume

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/netmount"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/outside/ceph"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// cephShare matches [NAME@]FS:/PATH with options: NAME is the client's name without "client.",
// FS the name of the file system.
var cephShare = regexp.MustCompile(`^(?:(\w[\w.-]*)@)?(\w[\w.-]*):(/[^,\s\x00]*)(?:,([^\s\x00]+))?$`)

// ownCeph are the mount options that tare sets. Each arm has a session of its own (noshare),
// because a shared session shares its cache. Device files and setuid programs on the cluster
// have no effect here.
const ownCeph = "noshare,nosuid,nodev"

func parseCephFS(word, rest string) (Volume, error) {
	m := cephShare.FindStringSubmatch(rest)
	if m == nil {
		return Volume{}, fmt.Errorf("volume %q: want cephfs:FS:/PATH or cephfs:NAME@FS:/PATH, with mount options behind a comma: cephfs:FS:/PATH,wsize=16777216", word)
	}
	for _, o := range strings.Split(m[4], ",") {
		name, _, _ := strings.Cut(o, "=")
		switch name {
		case "secret":
			return Volume{}, hint.New(fmt.Errorf("volume %q: a secret would be in every record", word), "put the client's keyring into /etc/ceph, or name a file with secretfile=")
		case "ro", "remount", "share", "suid", "dev", "name", "fs", "mds_namespace", "conf":
			return Volume{}, hint.New(fmt.Errorf("volume %q: mount option %q is not for a volume of an arm", word, o),
				"leave it out: tare mounts it for reading and writing with "+ownCeph+"; the client and the file system are NAME@FS, the cluster is that of CEPH_CONF")
		case "":
			if m[4] != "" {
				return Volume{}, fmt.Errorf("volume %q: an empty mount option", word)
			}
		}
	}
	user := ""
	if m[1] != "" {
		user = m[1] + "@"
	}
	return Volume{kind: CephFS, path: user + m[2] + ":" + m[3], options: m[4]}, nil
}

// cephParts are the client's name, the file system and the path in it.
func (v Volume) cephParts() (user, system, path string) {
	m := cephShare.FindStringSubmatch(v.path)
	return cmp.Or(m[1], "admin"), m[2], m[3]
}

func (v Volume) cephOptions() string {
	user, system, _ := v.cephParts()
	return strings.TrimPrefix(v.options+","+ownCeph+",name="+user+",mds_namespace="+system+",conf="+ceph.Config(), ",")
}

// openCephFS mounts the file system and makes the arm's directory on it.
func (o *Opened) openCephFS(ctx context.Context) error {
	_, _, path := o.v.cephParts()
	return o.openShared(ctx, shared{
		kind: netmount.CephFS(), source: ":" + path, options: o.v.cephOptions(), step: func(s shareStep) journal.Step { return CephFSStep{s} },
		rights: "give the client rights to write: ceph fs authorize FS client.NAME / rw",
		granted: func(_ context.Context, m proc.Mount) error {
			return ofCeph().check(storage.OptionsOf(m), strings.TrimPrefix(o.v.options+","+ownCeph, ","), "ask for what it gave")
		},
	})
}

func (v Volume) supportCephFS(h facts.Host) facts.Support {
	if !h.Root {
		return facts.Unsupported(record.Say("user_cannot_mount"), record.Say("root_or_cephfs"))
	}
	if s := v.supportCeph("ceph"); s.Answer != facts.Yes {
		return s
	}
	if _, err := netmount.CephFS().Program(); err != nil {
		return facts.Refused(err)
	}
	if !clientOf("/", "ceph", "ceph") {
		return facts.Unsupported(record.Say("no_cephfs"), record.Say("install_modules", "module", "ceph"))
	}
	_, system, _ := v.cephParts()
	if err := (ceph.Pool{Config: ceph.Config()}).HasFileSystem(context.Background(), system); err != nil {
		return facts.Refused(err)
	}
	return facts.Supported()
}
