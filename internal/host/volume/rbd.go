package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/ceph"
	"github.com/tarelab/tare/record"
)

// patience is the option osd_request_timeout: without an answer from the cluster a request
// fails after 60 s. Without it a request waits forever and nothing can end what waits for it in
// the kernel. It has no effect on a cluster that answers.
const patience = timeout + "60"

const timeout = "osd_request_timeout="

// stalled is how long an image that is being closed may go without a completed request. The
// file system writes one block after the other, and each would wait for patience. The data is
// removed anyway.
const stalled = 30 * time.Second

// parseRBD parses POOL/IMAGE and, after a comma, options of the mapping.
func parseRBD(word, rest string) (Volume, error) {
	name, options, more := strings.Cut(rest, ",")
	if !poolAndImage.MatchString(name) {
		return Volume{}, fmt.Errorf("volume %q: want POOL/IMAGE, each of letters, digits, dots, dashes and underscores", word)
	}
	if more && (options == "" || strings.ContainsAny(options, " \t\n\x00")) {
		return Volume{}, hint.New(fmt.Errorf("volume %q: no options of a mapping behind the comma", word), "rbd:POOL/IMAGE,queue_depth=256,ms_mode=crc")
	}
	for _, o := range strings.Split(options, ",") {
		if o == "ro" || o == "read_only" {
			return Volume{}, hint.New(fmt.Errorf("volume %q: option %q is not for a volume of an arm", word, o), "leave it out: tare maps the image for writing")
		}
		if name, after, _ := strings.Cut(o, "="); name+"=" != timeout {
			continue
		} else if n, err := strconv.Atoi(after); err != nil || n < 1 {
			return Volume{}, hint.New(fmt.Errorf("volume %q: option %q: want a time in seconds; without one, requests to a cluster that is gone never end", word, o), "leave it out for "+patience)
		}
	}
	return Volume{kind: RBD, path: name, system: "ext4", options: options}, nil
}

func (v Volume) mapOptions() string {
	if strings.Contains(","+v.options, ","+timeout) {
		return v.options
	}
	return strings.TrimPrefix(v.options+","+patience, ",")
}

// pool is the pool in the cluster that Ceph's own tools find.
func (v Volume) pool() ceph.Pool {
	name, _, _ := strings.Cut(v.path, "/")
	return ceph.Pool{Config: ceph.Config(), Name: name}
}

// image is the arm's own image. Its name has the id of the run, so it is nobody else's.
func (v Volume) image(s Spec) ceph.Image {
	_, name, _ := strings.Cut(v.path, "/")
	return ceph.Image{Pool: v.pool(), Name: name + "-tare-" + s.Run + "-" + s.Arm}
}

// openRBD makes an image, maps it to a block device, and makes and mounts a file system on
// that.
func (o *Opened) openRBD(ctx context.Context) error {
	dir, err := o.makeDir(o.spec.Scratch)
	if err != nil {
		return err
	}
	image := o.v.image(o.spec)
	if err := o.makeImage(ctx, image); err != nil {
		return err
	}
	if err := o.recordStep(image.MappingStep(), image.Unmap); err != nil {
		return err
	}
	device, err := image.Map(ctx, o.v.mapOptions())
	if err != nil {
		return err
	}
	o.abortStalled = func(closed <-chan struct{}) { image.AbortStalled(closed, stalled) }
	if err := grantedMapping("/", device, o.v.mapOptions()); err != nil {
		return err
	}
	if err := format(ctx, o.v.system, device); err != nil {
		return err
	}
	f, _ := systemOf(o.v.system)
	return o.mount(device, dir, o.v.system, f.mount)
}

// makeImage makes an image. An existing image of that name is somebody else's and an error.
func (o *Opened) makeImage(ctx context.Context, image ceph.Image) error {
	var made error
	err := o.recordStep(image.Step(), func() error {
		if errors.Is(made, os.ErrExist) {
			return nil
		}
		return image.Remove(context.Background())
	})
	if err != nil {
		return err
	}
	made = image.Create(ctx, o.v.size(o.spec.Need))
	return made
}

func (v Volume) supportRBD(h facts.Host) facts.Support {
	if !h.Root {
		return facts.Unsupported(record.Say("user_cannot_map"), facts.AsRoot())
	}
	if s := v.supportCeph("rbd", "ceph"); s.Answer != facts.Yes {
		return s
	}
	if _, err := os.Stat("/sys/bus/rbd"); err != nil && !module(proc.FS("/"), "rbd") {
		return facts.Unsupported(record.Say("no_rbd"), record.Say("install_modules", "module", "rbd"))
	}
	f, _ := systemOf(v.system)
	if _, err := tool(f); err != nil {
		return facts.Refused(err)
	}
	return v.supportPool()
}

// supportCeph says whether Ceph's tools and the configuration of a cluster are installed.
func (v Volume) supportCeph(tools ...string) facts.Support {
	for _, name := range tools {
		if _, err := exec.LookPath(name); err != nil {
			return facts.Uninstalled(name, ceph.Packages)
		}
	}
	if _, err := os.Stat(ceph.Config()); err != nil {
		return facts.Unsupported(record.Say("no_ceph_cluster", "why", err.Error()), record.Say("configure_ceph"))
	}
	return facts.Supported()
}

// supportPool asks the cluster whether the pool exists.
func (v Volume) supportPool() facts.Support {
	if _, err := v.pool().Free(context.Background()); err != nil {
		return facts.Refused(err)
	}
	return facts.Supported()
}

// module says whether the kernel of a host has a module, loadable or built in.
func module(root proc.FS, name string) bool {
	release, _ := os.ReadFile(root.Path("proc/sys/kernel/osrelease"))
	for _, list := range []string{"modules.dep", "modules.builtin"} {
		b, _ := os.ReadFile(root.Path("lib/modules", strings.TrimSpace(string(release)), list))
		if strings.Contains(string(b), "/"+name+".ko") {
			return true
		}
	}
	return false
}
