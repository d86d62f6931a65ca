package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
)

// cephClient observes the kernel's client of the Ceph cluster that has the arm's data (an image
// or a file system), through debugfs: the requests that wait for the cluster's OSDs, and for a
// file system the number of requests of each kind and their time.
type cephClient struct {
	xattr func(path, name string) (string, error) // getxattr, outside tests
}

func (cephClient) Name() string { return "Ceph client" }

// cephOps are the kinds of requests that the kernel counts.
func cephOps() []string { return []string{"read", "write", "metadata"} }

func (cephClient) Metrics() []Metric {
	all := []Metric{
		{Name: "ceph.waiting", Unit: "1", Kind: Level, Help: helpCephWaiting},
		{Name: "ceph.homeless", Unit: "1", Kind: Level, Help: helpCephHomeless},
	}
	for _, op := range cephOps() {
		requests := "ceph." + op + ".requests"
		all = append(all,
			Metric{Name: requests, Unit: "1", PerOp: true, Help: helpCephOf(op)},
			Metric{Name: "ceph." + op + ".time", Unit: "s", Of: requests, Rounded: 1e-6, Help: helpCephTime(op)})
	}
	return all
}

func (p cephClient) Open(t Target) (Reader, error) {
	m, err := dataMount(t)
	if err != nil {
		return nil, err
	}
	root := proc.FS(t.Root)
	name, image, err := "", false, error(nil)
	if m.Type == "ceph" {
		name, err = p.mount(root.Path(m.Point))
	} else if d, ok := storage.DeviceOf(root, m); ok && d.Mapping != "" {
		image = true
		name, err = cephImage(d.Dir)
	} else {
		return nil, fmt.Errorf("%w: the data is on no Ceph cluster", errNothing)
	}
	if err != nil {
		return nil, err
	}
	dir := root.Path("sys/kernel/debug/ceph", name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there: mount -t debugfs debugfs /sys/kernel/debug, where the kernel has it", filepath.Join("/sys/kernel/debug/ceph", name))
	} else if err != nil {
		return nil, err
	}
	metrics := p.Metrics()
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	waiting := source{paths: []string{filepath.Join(dir, "osdc")}, names: names[:2], parse: func(text []byte, dst []float64) (err error) {
		dst[0], dst[1], err = proc.CephWaiting(text)
		return err
	}}
	latency := source{ // before Linux 5.16 all metrics are in one file
		paths: []string{filepath.Join(dir, "metrics", "latency"), filepath.Join(dir, "metrics")}, names: names[2:], parse: cephLatency(),
	}
	if image {
		latency = absent(noRequestsOfImage, names[2:]...)
	}
	return openFiles(waiting, latency)
}

func cephLatency() func([]byte, []float64) error {
	ops := cephOps()
	all := make([]proc.CephOp, len(ops))
	return func(text []byte, dst []float64) error {
		err := proc.CephLatency(text, ops, all)
		for i, o := range all {
			dst[2*i], dst[2*i+1] = o.Requests, o.Taken
		}
		return err
	}
}

// mount is the name of the debugfs directory of a mount's client. The kernel has the attributes
// since Linux 5.11, and may ask the cluster before it answers.
func (p cephClient) mount(point string) (string, error) {
	name, err := storage.Answered(point, func() (string, error) {
		cluster, err := p.xattr(point, "ceph.cluster_fsid")
		if err != nil {
			return "", err
		}
		client, err := p.xattr(point, "ceph.client_id")
		return cluster + "." + client, err
	})
	if err != nil {
		return "", fmt.Errorf("ask which Ceph client %s has: %w", point, err)
	}
	return name, nil
}

// getxattr reads an extended attribute of up to 128 bytes.
func getxattr(path, name string) (string, error) {
	var b [128]byte
	n, err := unix.Getxattr(path, name, b[:])
	if err != nil {
		return "", &os.PathError{Op: "getxattr " + name, Path: path, Err: err}
	}
	return string(b[:n]), nil
}

// cephImage is the name of the debugfs directory of an image's client. dir is the image's block
// device below /sys/devices: rbd/0/block/rbd0; the attributes are in rbd/0.
func cephImage(dir string) (string, error) {
	var words [2]string
	for i, name := range []string{"cluster_fsid", "client_id"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(dir)), name))
		if err != nil {
			return "", fmt.Errorf("ask the kernel which Ceph client %s has: %w", filepath.Base(dir), err)
		}
		words[i] = strings.TrimSpace(string(b))
	}
	return words[0] + "." + words[1], nil
}
