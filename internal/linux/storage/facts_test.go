package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/proc"
)

// tree makes a fixture of /proc and /sys.
func tree(t *testing.T, mountinfo string, files map[string]string, links map[string]string) proc.FS {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/mountinfo", mountinfo)
	for name, text := range files {
		write(name, text+"\n")
	}
	for name, to := range links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return proc.FS(root)
}

const root = "27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"

// A partition has the facts of its disk, LVM also those of the disk below, a loop device also
// those of the device with its file.
func TestDevices(t *testing.T) {
	fs := tree(t, root+
		"40 27 253:0 / /tmp rw,noatime shared:1 - xfs /dev/mapper/vg-data rw,attr2\n"+
		"41 40 7:3 / /tmp/loop rw - ext4 /dev/loop3 rw,nobarrier\n",
		map[string]string{
			"sys/devices/sda/queue/write_cache":     "write back",
			"sys/devices/sda/queue/scheduler":       "none [mq-deadline] kyber",
			"sys/devices/sda/queue/rotational":      "1",
			"sys/devices/sda/sda1/partition":        "1",
			"sys/devices/sda/sda2/partition":        "2",
			"sys/devices/dm-0/queue/write_cache":    "write through",
			"sys/devices/dm-0/queue/scheduler":      "none",
			"sys/devices/loop3/loop/backing_file":   "/tmp/image",
			"sys/devices/loop3/loop/dio":            "1",
			"sys/devices/loop3/queue/write_cache":   "write back",
			"sys/devices/sda/queue/unrelated_stuff": "x",
		},
		map[string]string{
			"sys/dev/block/8:1": "../../devices/sda/sda1", "sys/dev/block/253:0": "../../devices/dm-0",
			"sys/dev/block/7:3": "../../devices/loop3", "sys/devices/dm-0/slaves/sda2": "../../sda/sda2",
		})
	loop, err := of(fs, mounts(t, fs), "/tmp/loop/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range loop.Settings() {
		got = append(got, s.Name+"="+s.Got)
	}
	want := []string{
		"volume.fs=ext4", "volume.source=/dev/loop3", "volume.options=rw,nobarrier",
		"volume.device=loop3", "volume.cache=write back", "volume.direct=1",
		"volume.under1.device=dm-0", "volume.under1.cache=write through", "volume.under1.scheduler=none",
		"volume.under2.device=sda2", "volume.under2.cache=write back", "volume.under2.scheduler=mq-deadline", "volume.under2.rotational=1",
		"volume.under.fs=xfs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !loop.NoBarrier() || loop.Memory() || loop.Network() {
		t.Errorf("%+v", loop)
	}
	if f, err := Of(fs, t.TempDir()); err != nil || f.Mount.Type != "xfs" || f.Option("attr2") != "" || !f.Has("noatime") {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := of(fs, nil, "/x", 0); err == nil {
		t.Error("a path on no mount")
	}
}

// The mapping of a Ceph image is shown without its secret.
func TestMappedImage(t *testing.T) {
	fs := tree(t, root+"40 27 252:0 / /tmp rw - ext4 /dev/rbd0 rw\n", map[string]string{
		"sys/devices/rbd/0/block/rbd0/queue/nr_requests": "64",
		"sys/devices/rbd/0/config_info":                  "10.0.0.1:6789 name=admin,key=client.admin,secret=AQ==,queue_depth=64 rbd tare-x -",
	}, map[string]string{"sys/dev/block/252:0": "../../devices/rbd/0/block/rbd0"})
	f, err := of(fs, mounts(t, fs), "/tmp/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	d := f.Devices[0]
	if d.Mapping != "10.0.0.1:6789,name=admin,queue_depth=64,rbd,tare-x,-" || d.Requests != "64" || !f.Network() {
		t.Errorf("%+v, network %v", d, f.Network())
	}
}

func mounts(t *testing.T, fs proc.FS) []proc.Mount {
	t.Helper()
	m, err := fs.Mounts()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The lines of mountinfo are as kernels of such hosts write them.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{"a good NFS 4.2", "50 27 0:44 / /m rw,relatime shared:9 - nfs4 srv:/export rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=192.0.2.2,local_lock=none,addr=192.0.2.1",
			[]string{"sync or async"}},
		{"all that is wrong with NFS 3", "50 27 0:44 / /m rw,relatime - nfs srv:/export rw,vers=3,rsize=32768,wsize=8192,namlen=255,soft,nolock,noac,proto=udp,timeo=11,retrans=3,sec=sys,mountaddr=192.0.2.1,mountvers=3,mountport=635,mountproto=udp,local_lock=all,addr=192.0.2.1",
			[]string{"soft", "UDP", "locks", "costs speed", "rsize", "wsize", "sync or async"}},
		{"CephFS", "51 27 0:45 / /m rw,relatime - ceph 192.0.2.1:6789:/ rw,name=admin,secret=<hidden>,acl,wsize=16777216",
			nil},
		{"CephFS that drops", "51 27 0:45 / /m rw,relatime - ceph 192.0.2.1:6789:/ rw,name=admin,acl,recover_session=clean",
			[]string{"drops"}},
		{"no barriers", "52 27 8:17 / /m rw - ext4 /dev/sdb1 rw,nobarrier", []string{"barriers"}},
		{"no barriers, the other word", "52 27 8:17 / /m rw - ext4 /dev/sdb1 rw,barrier=0", []string{"barriers"}},
		{"memory", "53 27 0:50 / /m rw - tmpfs tmpfs rw,size=1024k", []string{"in memory"}},
		{"a disk", "54 27 8:17 / /m rw - xfs /dev/sdb1 rw,attr2,inode64,noquota", nil},
	} {
		all, err := proc.ParseMountInfo([]byte(root + c.line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := of(proc.FS(t.TempDir()), all, "/m/x", 0)
		if err != nil {
			t.Fatal(err)
		}
		ws := f.Warnings()
		if len(ws) != len(c.want) {
			t.Errorf("%s: %d warnings: %+v", c.name, len(ws), ws)
			continue
		}
		for i, w := range ws {
			if !strings.Contains(said.English(w.Text), c.want[i]) || said.English(w.Remedy) == "" || !strings.Contains(said.English(w.Text), "/m") {
				t.Errorf("%s: %+v, want %q in it", c.name, w, c.want[i])
			}
		}
		if f.Network() != (strings.Contains(c.name, "NFS") || strings.Contains(c.name, "CephFS")) {
			t.Errorf("%s: network %v", c.name, f.Network())
		}
	}
}

// A loop device whose file is on a network file system counts as network, with the warnings of
// that mount.
func TestLoopOnNetwork(t *testing.T) {
	fs := tree(t, root+
		"50 27 0:44 / /tmp/nfs rw,relatime - nfs4 srv:/export rw,vers=4.2,soft,proto=tcp,local_lock=none\n"+
		"51 27 7:3 / /tmp/loop rw - ext4 /dev/loop3 rw\n",
		map[string]string{"sys/devices/loop3/loop/backing_file": "/tmp/nfs/image"},
		map[string]string{"sys/dev/block/7:3": "../../devices/loop3"})
	f, err := of(fs, mounts(t, fs), "/tmp/loop/x", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Network() || f.Memory() || f.Mount.Type != "ext4" {
		t.Errorf("%+v", f)
	}
	var texts []string
	for _, w := range f.Warnings() {
		texts = append(texts, said.English(w.Text))
	}
	if all := strings.Join(texts, "\n"); len(texts) != 2 || !strings.Contains(all, "nfs4 on /tmp/nfs: soft") {
		t.Errorf("%s", all)
	}
}

func TestHere(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1": true, "::1": true, "192.0.2.1": false, "": false, "srv": false} {
		if here(address) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
}
