package volume

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// optionsOf are the options of a line of mountinfo.
func optionsOf(line string) storage.Facts { return storage.Facts{Options: strings.Split(line, ",")} }

const (
	overTCP  = "rw,nosuid,nodev,relatime,vers=4.2,rsize=524288,wsize=524288,namlen=255,hard,nosharecache,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=10.9.0.2,local_lock=none,addr=10.9.0.1"
	overRDMA = "rw,nosuid,nodev,relatime,vers=4.2,rsize=524288,wsize=524288,namlen=255,hard,nosharecache,proto=rdma,port=20049,timeo=600,retrans=2,sec=sys,clientaddr=10.9.0.2,local_lock=none,addr=10.9.0.1"
	version3 = "rw,nosuid,nodev,sync,noac,vers=3,rsize=65536,wsize=65536,namlen=255,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0,soft,nolock,noacl,nosharecache,proto=tcp6,timeo=50,retrans=3,sec=krb5i,mountaddr=fd00::1,mountvers=3,mountport=20048,mountproto=udp6,lookupcache=pos,local_lock=all,addr=fd00::1"
)

// Every option that was asked for of an NFS volume is found in mountinfo, or the volume is refused. The
// first of two cases of each option is granted, the second is not.
func TestEveryNFSOptionIsReadBack(t *testing.T) {
	for _, c := range []struct{ given, granted, refused string }{
		{overTCP, "proto=tcp", "proto=rdma"}, {overTCP, "proto=tcp6", "proto=rdma6"}, {overTCP, "tcp", "rdma"}, {overTCP, "", "udp"}, {overRDMA, "proto=rdma,port=20049", "proto=tcp"},
		{overRDMA, "rdma,port=20049", ""}, {version3, "proto=tcp6", "proto=udp"}, {version3, "proto=tcp", "proto=udp6"},
		{overTCP, "vers=4", "vers=3"}, {overTCP, "nfsvers=4.2", "vers=4.1"}, {overTCP, "v4.2", "v3"}, {overTCP, "minorversion=2", "minorversion=1"}, {version3, "vers=3,sec=krb5i,proto=tcp", "vers=4"},
		{overTCP, "port=2049", "port=2050"}, {overTCP, "clientaddr=10.9.0.2", "clientaddr=10.9.0.3"}, {overTCP, "sec=sys", "sec=krb5"}, {overTCP, "sec=krb5:sys", "sec=krb5:krb5i"},
		{overTCP, "hard", "soft"}, {overTCP, "nosoftreval", "softerr"}, {overTCP, "cto", "nocto"}, {overTCP, "ac", "noac"}, {version3, "noac", ""},
		{overTCP, "acregmin=3,acregmax=60,acdirmin=30,acdirmax=60", "acregmin=1"}, {overTCP, "", "actimeo=1"}, {version3, "actimeo=0", "actimeo=60"},
		{overTCP, "async", "sync"}, {version3, "sync", "async"}, {overTCP, "lookupcache=all", "lookupcache=none"}, {version3, "lookupcache=positive", "lookupcache=all"},
		{overTCP, "local_lock=none", "local_lock=posix"}, {version3, "local_lock=all", "local_lock=none"}, {overTCP, "lock", "nolock"}, {version3, "nolock", "lock"},
		{overTCP, "rsize=524288,wsize=524288", "wsize=1048576"}, {overTCP, "timeo=600,retrans=2", "timeo=50"}, {overTCP, "nconnect=1", "nconnect=4"},
		{overTCP, "max_connect=1", "max_connect=4"}, {overTCP, "xprtsec=none", "xprtsec=tls"}, {overTCP, "nofsc", "fsc"}, {overTCP, "", "fsc=mine"}, {overTCP, "write=lazy", "write=eager"},
		{overTCP, "acl", "noacl"}, {overTCP, "rdirplus", "nordirplus"}, {overTCP, "notrunkdiscovery", "trunkdiscovery"}, {overTCP, "relatime", "noatime"}, {overTCP, "nosharecache", "nodiratime"},
		{overTCP, "intr,retry=0,mountproto=udp,_netdev,defaults", "nonsense"}, {overTCP, "", "rdirplus=force"}, {overTCP, "namelen=255", "namlen=64"}, {overTCP, "", "bsize=4096"},
	} {
		if got := ofNFS().refused(optionsOf(c.given), c.granted); got != "" {
			t.Errorf("%s of %s is refused", got, c.given)
		}
		if got := ofNFS().refused(optionsOf(c.given), c.refused); got != c.refused {
			t.Errorf("%q of %s: refused %q", c.refused, c.given, got)
		}
	}
}

// A mount that shares its connection with another has an option of it that nobody asked for: each is an
// error that names it.
func TestImposedConnection(t *testing.T) {
	for asked, c := range map[string]struct{ given, says, hints string }{
		"vers=4.2":            {overRDMA, "proto=rdma, which was not asked for", "ask for it: proto=rdma"},
		"vers=4.2,proto=tcp":  {overRDMA, "asked for proto=tcp", "in two runs"},
		"vers=4.2,proto=rdma": {overTCP, "asked for proto=rdma", "vers=3"},
		"":                    {overTCP + ",nconnect=8", "nconnect=8", "ask for it: nconnect=8"},
		"nconnect=4":          {overTCP + ",nconnect=8", "asked for nconnect=4", "in two runs"},
		"vers=4.1":            {overTCP, "asked for vers=4.1", "leave vers out"},
	} {
		err := grantedNFS(optionsOf(c.given), asked)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.hints) {
			t.Errorf("%q: %v, hint %q", asked, err, hint.Of(err))
		}
	}
	for asked, given := range map[string]string{"": overTCP, "vers=4.2,proto=tcp": overTCP, "proto=rdma,port=20049": overRDMA, "nconnect=8": overTCP + ",nconnect=8"} {
		if err := grantedNFS(optionsOf(given), asked); err != nil {
			t.Errorf("%q: %v", asked, err)
		}
	}
	if err := grantedNFS(optionsOf(strings.Replace(overTCP, "nosharecache,", "", 1)), ""); err == nil {
		t.Error("a mount that shares the cache of another")
	}
}

// What the kernel never shows is said, with the reason, in the plan and in the manifest.
func TestNotShown(t *testing.T) {
	for word, want := range map[string]string{
		"nfs:srv:/a,vers=3,mountproto=udp,hard":      "mountproto=udp: only the request to mount uses it",
		"loop:ext4:journal_ioprio=2,noatime":         "journal_ioprio=2: ext4 shows",
		"cephfs:fs:/,secretfile=/etc/ceph/s":         "secretfile=/etc/ceph/s: only mount.ceph reads it",
		"rbd:pool/img,ms_mode=crc,queue_depth=64":    "ms_mode=crc: /sys repeats",
		"nfs:srv:/a,vers=4.2,proto=tcp,clientaddr=x": "",
	} {
		v, err := Parse(word)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(v.NotShown(), "; ")
		changes := v.Changes(Spec{Run: "RUN", Arm: "a", Scratch: "/s"})
		if detail := fmt.Sprint(changes[len(changes)-1].Detail); !strings.HasPrefix(said, want) || (want != "") != strings.Contains(detail, "change.volume.unseen") {
			t.Errorf("%s: %q, changes %+v", word, said, changes)
		}
		settings := (&Opened{v: v}).Settings()
		if last := settings[len(settings)-1]; want != "" && (last.Name != "volume.unseen" || !strings.Contains(last.Got, want)) {
			t.Errorf("%s: settings %+v", word, settings)
		}
	}
}

// CephFS shows what differs from its defaults; a mapped image shows what its device has.
func TestCephOptionsAreReadBack(t *testing.T) {
	const given = "rw,nosuid,nodev,relatime,name=admin,secret=<hidden>,noshare,ms_mode=crc,acl,mds_namespace=fs,wsize=16777216,rbytes,recover_session=clean"
	for asked, want := range map[string]string{
		"": "", "wsize=16777216": "", "wsize=16m": "", "wsize=64m": "wsize=64m", "rsize=67108864": "", "rsize=16777216": "rsize=16777216", "noshare": "", "ms_mode=crc": "", "ms_mode=secure": "ms_mode=secure",
		"dcache": "", "nodcache": "nodcache", "rbytes": "", "norbytes": "norbytes", "recover_session=no": "recover_session=no", "nocrc": "nocrc", "crc": "", "wsync": "wsync", "fsc": "fsc", "secretfile=/x": "", "odd": "odd",
	} {
		if got := ofCeph().refused(optionsOf(given), asked); got != want {
			t.Errorf("%q: refused %q, want %q", asked, got, want)
		}
	}
	root := tree(t, map[string]string{"sys/block/rbd0/mq/0/nr_tags": "128", "sys/block/rbd0/queue/minimum_io_size": "65536", "sys/block/rbd0/queue/discard_max_bytes": "4194304"})
	for asked, granted := range map[string]bool{
		"": true, "queue_depth=128": true, "queue_depth=256": false, "alloc_size=65536": true, "alloc_size=4096": false, "notrim": false, "lock_on_read,osd_request_timeout=60": true, "odd=1": false,
	} {
		if err := grantedMapping(root, "/dev/rbd0", asked); (err == nil) != granted || err != nil && hint.Of(err) == "" {
			t.Errorf("%q: %v", asked, err)
		}
	}
}

// Each option of a file system that tare makes is in force on the real mount, or is an error.
func TestDiskOptionsAreReadBack(t *testing.T) {
	testneed.Root(t)
	for word, says := range map[string]string{
		"loop:ext4:noatime": "", "loop:ext4:barrier=0,commit=30": "", "loop:ext4:barrier=1,data=ordered,commit=5": "", "loop:ext4:data=journal": "", "loop:ext4:sync,nodiratime": "", "loop:ext4:lazytime": "",
		"loop:ext4:data=journal,delalloc": "mount ext4", "loop:ext4:data=journal,dioread_nolock": "asked for dioread_nolock", "loop:ext4:noload": "", "loop:ext4:discard": "", "loop:ext4:nonsense": "mount ext4", "loop:ext4:journal_ioprio=2": "",
		"loop:xfs:noatime,logbsize=262144": "", "loop:xfs:allocsize=64m,wsync": "", "loop:xfs:nodiscard,noquota": "", "loop:btrfs:compress=zstd,noatime": "", "loop:btrfs:compress": "", "loop:btrfs:nobarrier,flushoncommit,commit=120": "",
		"loop:btrfs:datacow,datasum,barrier,max_inline=2048": "", "loop:btrfs:nodatacow,compress=zstd": "asked for nodatacow", "loop:btrfs:nodatacow": "", "tmpfs": "",
	} {
		t.Run(word, func(t *testing.T) { openedDisk(t, word, says) })
	}
}

// openedDisk opens a volume and closes it; says is in the error, empty: there is none.
func openedDisk(t *testing.T, word, says string) {
	v, err := Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := systemOf(v.system); ok {
		testneed.Tool(t, f.mkfs[0])
	}
	s, left := spec(t, "arm")
	o, err := v.Open(t.Context(), s)
	if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
		t.Error(err)
	}
	if err == nil {
		if text, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(word, "noatime") && !strings.Contains(lineOf(string(text), o.Dir), "noatime") {
			t.Error(lineOf(string(text), o.Dir))
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	if l := left(); len(l) > 0 {
		t.Errorf("left %+v", l)
	}
}

func lineOf(text, point string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, " "+point+" ") {
			return line
		}
	}
	return ""
}

// A kernel that mounts with other options than asked for is found out.
func TestRefusedDisk(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/self/mountinfo":        "40 27 7:3 / /v rw,nosuid,relatime - ext4 /dev/loop3 rw,data=journal\n41 27 0:44 / /b rw,relatime - btrfs /dev/loop4 rw,nodatasum,nodatacow,discard=async,space_cache=v2\n42 27 0:45 / /x rw,relatime - xfs /dev/loop5 rw,inode64,logbufs=8,logbsize=32k,noquota",
		"proc/fs/ext4/loop3/options": "rw\nnobarrier\ncommit=5\ndata=journal",
	})
	for asked, refused := range map[string]map[string]string{
		"ext4":  {"barrier=1": "barrier=1", "barrier": "barrier", "barrier=0": "", "commit=5": "", "commit=30": "commit=30", "noatime": "noatime", "sync": "sync", "async": "", "data=ordered": "data=ordered"},
		"btrfs": {"nodatacow": "", "datacow": "datacow", "compress=zstd": "compress=zstd", "barrier": "", "nobarrier": "nobarrier", "nodiscard": "nodiscard", "flushoncommit": "flushoncommit", "commit=30": "", "commit=120": "commit=120"},
		"xfs":   {"logbsize=256k": "logbsize=256k", "logbsize=32768": "", "wsync": "wsync", "nowsync": "", "allocsize=64m": "allocsize=64m", "noalign": "noalign"},
	} {
		point := map[string]string{"ext4": "/v", "btrfs": "/b", "xfs": "/x"}[asked]
		for _, o := range slices.Sorted(maps.Keys(refused)) {
			err := grantedDisk(root, point, asked, o)
			if want := refused[o]; (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), "asked for "+want) || hint.Of(err) == "") {
				t.Errorf("%s: %s: %v, want %q", asked, o, err, want)
			}
		}
	}
	if err := grantedDisk(root, "/none", "xfs", ""); err == nil {
		t.Error("nothing is mounted there")
	}
}

// Two ways to one NFS server are refused before a run, and a mount of the host that decides about the
// way of a volume.
func TestApart(t *testing.T) {
	none := tree(t, map[string]string{"proc/self/mountinfo": "27 1 8:1 / / rw - ext4 /dev/sda1 rw"})
	const a, b = "nfs:127.0.0.1:/x", "nfs:127.0.0.2:/x"
	for _, c := range []struct{ first, second, says string }{
		{a + ",vers=4.2,proto=tcp", a + ",vers=4.2,proto=rdma,port=20049", "proto="}, {a, a + ",proto=rdma", "proto="}, {a + ",rdma", a + ",vers=4", "proto="}, {a, a + ",proto=tcp6", ""},
		{a, a + ",nconnect=4", "nconnect="}, {a + ",nconnect=1", a, ""}, {a + ",vers=3", a + ",vers=3,nconnect=4", "nconnect="}, {a + ",vers=3,proto=tcp", a + ",vers=3,proto=rdma", ""},
		{a + ",vers=4.1,proto=tcp", a + ",vers=4.2,proto=rdma", ""}, {a + ",vers=3", a + ",proto=rdma", ""}, {a, a + ",hard,rsize=65536", ""}, {a, b + ",proto=rdma", ""}, {a, a + ",port=2050", "port="},
		{a, a + ",noresvport", "noresvport"}, {a, a + ",clientaddr=10.0.0.1", "clientaddr="}, {a, "nfs:127.0.0.1:/y,xprtsec=tls", "xprtsec="}, {a, a, ""}, {a, "tmpfs", ""},
	} {
		first, err1 := Parse(c.first)
		second, err2 := Parse(c.second)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, both := range [][]Volume{{first, second}, {second, first}, {first, {}, second, first}} {
			err := Apart(none, both)
			if (err != nil) != (c.says != "") || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), "in two runs")) {
				t.Errorf("%s and %s: %v, hint %q", c.first, c.second, err, hint.Of(err))
			}
		}
	}
	on := func(kind, options string) proc.FS {
		return tree(t, map[string]string{"proc/self/mountinfo": "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n50 27 0:60 / /data rw,relatime - " + kind + " 127.0.0.1:/x " + strings.ReplaceAll(options, "10.9.0.1", "127.0.0.1")})
	}
	for _, c := range []struct {
		word, says string
		root       proc.FS
	}{
		{a, "proto=tcp and proto=rdma", on("nfs4", overRDMA)}, {a + ",proto=rdma,port=20049", "", on("nfs4", overRDMA)}, {a + ",proto=rdma", "proto=", on("nfs4", overTCP)}, {a, "", on("nfs4", overTCP)},
		{a + ",vers=3", "", on("nfs4", overRDMA)}, {a + ",vers=4.1", "", on("nfs4", overRDMA)}, {b, "", on("nfs4", overRDMA)},
	} {
		v, err := Parse(c.word)
		if err != nil {
			t.Fatal(err)
		}
		if err := Apart(c.root, []Volume{v}); (err != nil) != (c.says != "") || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), "umount /data")) {
			t.Errorf("%s: %v, hint %q", c.word, err, hint.Of(err))
		}
	}
}

// What directories share is said: a file system, a server, a disk.
func TestShared(t *testing.T) {
	one, two, far, farther, other := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	root := tree(t, map[string]string{
		"proc/self/mountinfo": "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n28 27 8:1 / " + one + " rw - ext4 /dev/sda1 rw\n29 27 8:2 / " + two + " rw - xfs /dev/sda2 rw\n" +
			"30 27 0:60 / " + far + " rw - nfs4 srv:/a rw,vers=4.2,proto=tcp,addr=127.0.0.1\n31 27 0:61 / " + farther + " rw - nfs4 srv:/b rw,vers=4.2,proto=rdma,addr=127.0.0.1\n" +
			"32 27 0:62 / " + other + " rw - tmpfs tmpfs rw",
		"sys/devices/sda/queue/scheduler": "none", "sys/devices/sda/sda1/partition": "1", "sys/devices/sda/sda2/partition": "2",
		"sys/dev/block/8:1/partition": "1", "sys/dev/block/8:2/partition": "2",
	})
	for name, to := range map[string]string{"8:1": "sda1", "8:2": "sda2"} {
		if err := errors.Join(os.RemoveAll(root.Path("sys/dev/block", name)), os.Symlink("../../devices/sda/"+to, root.Path("sys/dev/block", name))); err != nil {
			t.Fatal(err)
		}
	}
	scratch := t.TempDir() // on /
	for _, c := range []struct{ first, second, says string }{
		{"bind", "dir:" + one, "on one file system (ext4, /dev/sda1)"}, {"dir:" + one, "dir:" + two, "on one disk (sda)"}, {"dir:" + far, "dir:" + farther, "on one NFS server (127.0.0.1)"},
		{"dir:" + far, "nfs:127.0.0.1:/c", "on one NFS server (127.0.0.1)"}, {"dir:" + far, "nfs:127.0.0.2:/c", ""}, {"dir:" + other, "dir:" + one, ""}, {"bind", "tmpfs", ""}, {"dir:" + one, "dir:" + one, ""}, {"nfs:127.0.0.1:/a", "nfs:127.0.0.1:/b", ""},
	} {
		first, err1 := Parse(c.first)
		second, err2 := Parse(c.second)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, both := range [][]Volume{{first, second}, {second, first}} {
			got := ""
			for _, line := range Shared(root, scratch, both) {
				got += said.English(line) + "\n"
			}
			if (got != "") != (c.says != "") || !strings.Contains(got, c.says) {
				t.Errorf("%s and %s: %q, want %q", c.first, c.second, got, c.says)
			}
		}
	}
}
