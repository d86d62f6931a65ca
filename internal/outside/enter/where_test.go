package enter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/linux/proc"
)

// Lines of mountinfo: of process 1 on a host, of a container of Podman there, of a mount namespace of systemd
// (PrivateTmp), and of a chroot on a mount.
const (
	ofHost = `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 27 0:21 / /proc rw,relatime - proc proc rw
23 27 0:22 / /sys rw,relatime - sysfs sysfs rw
811 27 0:63 / /var/lib/containers/storage/overlay/b3/merged rw,nodev,relatime - overlay overlay rw,lowerdir=l/A
812 27 254:0 /srv/root /srv/root rw,relatime - ext4 /dev/vda rw
`
	ofContainer = `902 811 0:63 / / rw,relatime - overlay overlay rw,lowerdir=l/A
903 902 0:66 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
904 902 0:67 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755
`
	ofService = `610 609 254:0 / / rw,relatime shared:300 master:1 - ext4 /dev/vda rw
611 610 254:0 /tmp/systemd-private-1/tmp /tmp rw,relatime - ext4 /dev/vda rw
`
	ofChroot  = `812 27 254:0 /srv/root / rw,relatime - ext4 /dev/vda rw` + "\n"
	ofWritten = `950 811 0:63 / / ro - overlay` + "\n" // not a line of the kernel
)

func TestWhere(t *testing.T) {
	for name, c := range map[string]struct {
		pids        string
		self, first string // mountinfo; empty: cannot be read
		want        place
	}{
		"host":                              {hostPIDs, ofHost, ofHost, outsideContainers},
		"container":                         {"pid:[4026532301]", ofContainer, ofContainer, enclosed},
		"container with its host's IDs":     {hostPIDs, ofContainer, ofHost, seesHost},
		"service":                           {hostPIDs, ofService, ofHost, outsideContainers},
		"chroot":                            {hostPIDs, ofChroot, ofHost, outsideContainers},
		"process 1 is hidden":               {hostPIDs, ofContainer, "", outsideContainers},
		"no /proc":                          {"", "", "", outsideContainers},
		"a mountinfo that is not the usual": {hostPIDs, ofWritten, ofHost, outsideContainers},
	} {
		root := t.TempDir()
		file := func(name, text string) {
			path := filepath.Join(root, "proc", name)
			err := os.MkdirAll(filepath.Dir(path), 0o755)
			if text != "" {
				err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		file("self/ns/none", "")
		file("self/mountinfo", c.self)
		file("1/mountinfo", c.first)
		if c.pids != "" {
			if err := os.Symlink(c.pids, filepath.Join(root, "proc/self/ns/pid")); err != nil {
				t.Fatal(err)
			}
		}
		if got := where(proc.FS(root)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		why, remedy := NotHost(proc.FS(root))
		if plain := c.want == outsideContainers; why.IsZero() != plain || remedy.IsZero() != plain {
			t.Errorf("%s: %q, %q", name, why, remedy)
		}
	}
}

// Only the capabilities of the machine's root open its namespaces.
func TestMayEnter(t *testing.T) {
	for name, c := range map[string]struct {
		users, caps string
		want        bool
	}{
		"--privileged":       {hostUsers, "000001ffffffffff", true},
		"Docker's default":   {hostUsers, "00000000a80425fb", false},
		"rootless":           {"user:[4026532200]", "000001ffffffffff", false},
		"not a capability":   {hostUsers, "", false},
		"no user namespaces": {"", "000001ffffffffff", false},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "proc/self/ns")
		err := os.MkdirAll(dir, 0o755)
		if c.users != "" {
			err = errors.Join(err, os.Symlink(c.users, filepath.Join(dir, "user")))
		}
		text := "Name:\ttare\nUid:\t0\t0\t0\t0\nCapEff:\t" + c.caps + "\n"
		if err = errors.Join(err, os.WriteFile(filepath.Join(root, "proc/self/status"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		if got := mayEnter(proc.FS(root)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Variables that the container's engine has set stay in the container.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/usr/bin", "HOME=/", "HOSTNAME=a1b2", "container=podman", "TERM=xterm", "NO_COLOR=1", "TARE_RUN_DIR=/tmp/r", "KUBECONFIG=/etc/k"})
	want := []string{Path, "HOME=/root", "TERM=xterm", "NO_COLOR=1", "TARE_RUN_DIR=/tmp/r", "KUBECONFIG=/etc/k"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
