package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/linux/proc"
)

// install makes a root file system of Debian packages and packs it with tare's
// own binary.
func install(ctx context.Context, o Options, root string) (*tree, string, error) {
	suite := o.Suite
	if suite == "" {
		var err error
		if suite, err = hostSuite("/"); err != nil {
			return nil, "", err
		}
	}
	if err := bootstrap(ctx, o, suite, root); err != nil {
		return nil, "", err
	}
	t := newTree()
	t.owners = true
	if err := t.below(root, ""); err != nil {
		return nil, "", fmt.Errorf("read the root file system: %w", err)
	}
	for path := range t.entries {
		if slices.ContainsFunc(fleeting, func(dir string) bool { return strings.HasPrefix(path, dir) }) {
			delete(t.entries, path)
		}
	}
	h := host{tree: t}
	if o, ok, err := readObject(o.Self); err != nil || ok && o.needs {
		return nil, "", hint.New(errors.Join(errors.New("this binary of tare needs libraries of this host, which the packages do not have"), err),
			"build it static: CGO_ENABLED=0 go build ./cmd/tare")
	}
	if err := h.addSelf(ctx, o.Self); err != nil {
		return nil, "", err
	}
	return t, fmt.Sprintf("debian %s: %s", suite, strings.Join(o.Packages, " ")), nil
}

// fleeting is what an installation leaves that differs from one to the next.
var fleeting = []string{
	"var/log/", "var/cache/", "var/lib/apt/lists/", "tmp/", "run/", "etc/machine-id", "etc/hostname", "etc/resolv.conf",
	"var/lib/dbus/machine-id", "var/lib/systemd/random-seed", "etc/ssh/ssh_host_", "etc/ssl/private/",
	"var/lib/mysql/", "var/lib/postgresql/", "var/lib/clickhouse/",
}

// hostSuite is the release of this host, if it is Debian.
func hostSuite(root proc.FS) (string, error) {
	values, _ := root.OSRelease()
	if values["ID"] != "debian" || values["VERSION_CODENAME"] == "" {
		return "", hint.New(errors.New("this host is no Debian, whose release could be taken"), "name one: --suite bookworm")
	}
	return values["VERSION_CODENAME"], nil
}

// stopBound is how long a bootstrap that is ended may take to tidy up.
const stopBound = 30 * time.Second

// bootstrap runs the first tool that there is.
func bootstrap(ctx context.Context, o Options, suite, root string) error {
	name, args, err := bootstrapCommand(o, suite, root)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	if o.Log != nil {
		cmd.Stdout, cmd.Stderr = io.MultiWriter(o.Log, &said), io.MultiWriter(o.Log, &said)
	}
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch.Unix()))
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = stopBound
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGTERM}
	if os.Geteuid() == 0 {
		// What it mounts in the root file system goes with it, however it ends.
		cmd.SysProcAttr.Unshareflags = unix.CLONE_NEWNS
	}
	err = child.Run(cmd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return hint.New(fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, said.last()),
			"are the packages called so in "+suite+" (apt-cache policy NAME), and is its mirror reached? --mirror URL names another")
	}
	return nil
}

// bootstrapCommand is mmdebstrap, which works for an ordinary user too, or
// debootstrap.
func bootstrapCommand(o Options, suite, root string) (name string, args []string, err error) {
	include := "--include=" + strings.Join(o.Packages, ",")
	if name, err = exec.LookPath("mmdebstrap"); err == nil {
		args = []string{"--quiet", "--variant=minbase", "--format=directory", include, suite, root}
		if o.Mirror != "" {
			return name, append(args, o.Mirror), nil
		}
		if o.Suite == "" {
			args = append(args, aptSources()...)
		}
		return name, args, nil
	}
	if name, err = exec.LookPath("debootstrap"); err == nil {
		if os.Geteuid() != 0 {
			return "", nil, hint.New(errors.New("debootstrap needs root"), "run as root, or install mmdebstrap")
		}
		args = []string{"--variant=minbase", include, suite, root}
		if o.Mirror != "" {
			args = append(args, o.Mirror)
		}
		return name, args, nil
	}
	return "", nil, hint.New(errors.New("neither mmdebstrap nor debootstrap is installed"),
		"apt install mmdebstrap, or pack programs of this host with --from-host")
}

// aptSources are the files in which this host names its own mirrors.
func aptSources() (files []string) {
	for _, file := range []string{"/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"} {
		if b, err := os.ReadFile(file); err == nil && len(strings.TrimSpace(string(b))) > 0 {
			files = append(files, file)
		}
	}
	return files
}

// tail keeps the end of what a program says.
type tail struct{ text []byte }

const tailBytes = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(b), nil
}

// last are its last lines.
func (t *tail) last() string {
	const most = 8
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-most):], "\n  ")
}
