package volume

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
)

// ofCeph says how the kernel shows the options of mount.ceph(8), after ceph_show_options.
func ofCeph() shown {
	return shown{
		absent: map[string]string{
			"dcache": "nodcache", "asyncreaddir": "noasyncreaddir", "nodirstat": "dirstat", "norbytes": "rbytes", "noino32": "ino32", "nofsc": "fsc",
			"poolperm": "nopoolperm", "quotadf": "noquotadf", "nocopyfrom": "copyfrom", "crc": "nocrc", "tcp_nodelay": "notcp_nodelay", "nowsync": "wsync",
			"cephx_require_signatures": "nocephx_require_signatures", "cephx_sign_messages": "nocephx_sign_messages", "nosparseread": "sparseread",
			"wsize": "64m", "rsize": "64m", "rasize": "8m", "caps_max": "0", "caps_wanted_delay_min": "5", "caps_wanted_delay_max": "60",
			"readdir_max_entries": "1024", "readdir_max_bytes": "512k", "snapdirname": ".snap", "recover_session": "no", "ms_mode": "legacy",
			"mount_timeout": "60", "osd_idle_ttl": "60", "osdkeepalive": "5", "osd_request_timeout": "0", "read_from_replica": "no",
		},
		unseen: map[string]string{
			"secretfile": "only mount.ceph reads it", "mon_addr": "mountinfo has the monitors in the source of the mount",
		},
	}
}

// ofMapping says which options of an image's mapping can be read back: files in /sys have those of the
// device. config_info repeats what was asked for, and proves nothing.
func ofMapping() shown {
	s := shown{unseen: map[string]string{}}
	for _, name := range []string{
		"abort_on_full", "cephx_require_signatures", "nocephx_require_signatures", "cephx_sign_messages", "nocephx_sign_messages", "compression_hint", "crc", "nocrc", "crush_location",
		"crypt", "exclusive", "fsid", "ip", "lock_on_read", "lock_timeout", "ms_mode", "mount_timeout", "osd_idle_ttl", "osdkeepalive", "osd_request_timeout", "read_from_replica",
		"read_write", "rw", "rxbounce", "share", "noshare", "tcp_nodelay", "notcp_nodelay", "trim", "udev", "noudev",
	} {
		s.unseen[name] = "/sys repeats what was asked for"
	}
	return s
}

// grantedMapping returns an error if the device of an image has other settings than were asked for, or
// if an option is not known.
func grantedMapping(root proc.FS, device, asked string) error {
	dir := root.Path("sys/block", filepath.Base(device))
	files := map[string]string{"queue_depth": "mq/0/nr_tags", "alloc_size": "queue/minimum_io_size", "notrim": "queue/discard_max_bytes"}
	for _, o := range words(asked) {
		name, want, valued := strings.Cut(o, "=")
		file, known := files[name]
		switch {
		case !known && ofMapping().why(o) != "":
			continue
		case !known:
			return hint.New(fmt.Errorf("asked for %s, and nothing shows whether the kernel took it", o), "leave "+name+" out")
		case !valued:
			want = "0"
		}
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return hint.New(fmt.Errorf("asked for %s: %w", o, err), "leave "+name+" out: this kernel does not show it")
		}
		if got := strings.TrimSpace(string(b)); bytesOf(got) != bytesOf(want) {
			return hint.New(fmt.Errorf("asked for %s, and %s has %s", o, filepath.Join("/sys/block", filepath.Base(device), file), got), "ask for what it gave, or leave "+name+" out")
		}
	}
	return nil
}
