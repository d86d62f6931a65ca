// Package chroot is the host with the programs of an image. The image is unpacked into a directory,
// which is the root directory of the arm's processes; no other layer is added. It is the baseline
// for containers of the same image, as the host is for containers with the host's programs.
package chroot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Chroot is the environment. Spec.Container.Image is the archive of the image.
type Chroot struct{}

var _ environment.Environment = Chroot{}

// Name is the word for it on the command line and in the record.
func (Chroot) Name() string { return "chroot" }

// Title is one line for people.
func (Chroot) Title() record.Said { return record.Say("arm_image") }

// Capabilities: no options behind the name; the root comes from the file of an image, the groups are a service's.
func (Chroot) Capabilities() environment.Capabilities {
	return environment.Capabilities{Archive: true, RunsAs: launch.RunsAs}
}

// Support says whether this host and user can have it.
func (Chroot) Support(h facts.Host) facts.Support {
	if !h.Root {
		return facts.Unsupported(record.Say("user_cannot_chroot"), facts.AsRoot())
	}
	return h.Has(facts.FeatureNamespaces)
}

// Check reads the image.
func (Chroot) Check(_ context.Context, c environment.Container) error {
	_, err := openImage(c.Image)
	return err
}

// openImage reads the description of an image for this machine.
func openImage(file string) (image.Info, error) {
	i, err := image.Open(file)
	if err != nil {
		return i, err
	}
	if err := i.Fits(); err != nil {
		return i, hint.New(fmt.Errorf("%w: %w", facts.ErrUnsupported, err), hint.Of(err))
	}
	return i, nil
}

// Changes lists the changes that Open makes on the host.
func (Chroot) Changes(s environment.Spec) []facts.Change {
	groups, err := launch.ServiceGroups(s.Groups)
	if err != nil {
		return nil
	}
	return append(launch.Changes(s, groups),
		facts.Changed(messages.Say("change.files", "image", s.Container.Image), messages.Say("change.unpacked")),
		facts.Changed(messages.Say("change.mounts"), messages.Say("change.mounts.proc"), messages.Say("change.unseen")))
}

// Open makes the arm.
func (c Chroot) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	a, err := open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name(), err)
	}
	return a, nil
}

func open(ctx context.Context, spec environment.Spec) (*arm, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: an ordinary user cannot change the root directory", facts.ErrUnsupported)
	}
	groups, err := launch.ServiceGroups(spec.Groups)
	if err != nil {
		return nil, err
	}
	sandbox, err := launch.NewSandbox(spec, groups)
	if err != nil {
		return nil, err
	}
	a := &arm{Sandbox: sandbox}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	return a, nil
}

// arm is an opened Chroot.
type arm struct {
	*launch.Sandbox
	root       string // directory of the unpacked image
	hostVolume string
	image      image.Info

	inside launch.Slot
}

// prepare unpacks the image and fills the volume.
func (a *arm) prepare(ctx context.Context) (err error) {
	if a.image, err = openImage(a.Spec.Container.Image); err != nil {
		return err
	}
	a.root = filepath.Join(a.Dir, "root")
	own := filepath.Join(a.root, launch.Volume)
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		return fmt.Errorf("make the root directory: %w", err)
	}
	if err := image.Unpack(ctx, a.image.File, a.root); err != nil {
		return err
	}
	if err := launch.LinkExe(a.root); err != nil {
		return err
	}
	if a.hostVolume = a.BoundDir(); a.hostVolume == "" {
		a.hostVolume = own
	}
	return a.FillVolume(ctx, a.hostVolume)
}

// Place has the volume.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume = launch.Volume, a.hostVolume
	return p
}

// Start starts a process in the arm or beside it.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	c := a.Inside(p)
	c.Clone = unix.CLONE_NEWNS
	c.Request.Dir, c.Request.Exe, c.Request.Root = launch.Volume, launch.Exe, a.request()
	return a.inside.Replace(func() (environment.Running, error) { return a.Sandbox.Start(ctx, c) })
}

// request is the unpacked directory with the host's /proc, /dev and /sys.
func (a *arm) request() *launch.Root {
	r := &launch.Root{Point: a.root, Plain: true}
	for _, dir := range []string{"/proc", "/dev", "/sys"} {
		r.Mounts = append(r.Mounts, bind(dir, dir))
	}
	if a.BoundDir() != "" {
		r.Mounts = append(r.Mounts, bind(a.hostVolume, launch.Volume))
	}
	return r
}

func bind(from, to string) specs.Mount {
	return specs.Mount{Source: from, Destination: to, Options: []string{"rbind"}}
}

// Settings reads back the sandbox, the image and the process.
func (a *arm) Settings() ([]record.Setting, error) {
	all, err := a.Sandbox.Settings()
	all = append(all, record.Setting{Name: "image", Got: a.image.ID})
	its, readErr := a.inside.ReadBack(func() launch.Expect { return launch.Expect{Own: []string{"mnt"}} })
	return append(all, its...), errors.Join(err, readErr)
}
