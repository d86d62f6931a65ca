// Package ceph makes, maps and removes images in a pool of a Ceph cluster, with Ceph's tools
// and the kernel's client. It must not know what an image holds, and touches only images
// whose full name it is given.
package ceph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/child"
)

// defaultConfig is the default of Ceph's tools.
const defaultConfig = "/etc/ceph/ceph.conf"

// Config is the configuration file of the cluster: the first in $CEPH_CONF, or the default.
func Config() string {
	first, _, _ := strings.Cut(os.Getenv("CEPH_CONF"), ",")
	if path, err := filepath.Abs(first); first != "" && err == nil {
		return path
	}
	return defaultConfig
}

// Pool of a cluster.
type Pool struct {
	Config string // configuration file of the cluster
	Name   string
}

// Image of a pool.
type Image struct {
	Pool
	Name string
}

// String is POOL/NAME, as Ceph's tools name an image.
func (i Image) String() string { return i.Pool.Name + "/" + i.Name }

// A healthy cluster answers within these seconds.
const (
	mount   = 5  // to connect
	request = 30 // one request
)

// Free is how many bytes can still be written to a pool, without its replicas.
func (p Pool) Free(ctx context.Context) (int64, error) {
	ctx, stop := context.WithTimeout(ctx, 4*mount*time.Second)
	defer stop()
	var df struct {
		Pools []struct {
			Name  string
			Stats struct {
				Avail int64 `json:"max_avail"`
			}
		}
	}
	if err := p.ask(ctx, &df, "df"); err != nil {
		return 0, err
	}
	for _, x := range df.Pools {
		if x.Name == p.Name {
			return x.Stats.Avail, nil
		}
	}
	// The manager counts space; it lags by seconds.
	var names []string
	if err := p.ask(ctx, &names, "osd", "pool", "ls"); err != nil {
		return 0, err
	}
	if slices.Contains(names, p.Name) {
		return 0, hint.New(fmt.Errorf("the Ceph cluster of %s does not say how much room the pool %q has", p.Config, p.Name),
			"ceph --conf "+p.Config+" -s has to show an active mgr; a new pool is counted after some seconds")
	}
	return 0, hint.New(fmt.Errorf("the Ceph cluster of %s has no pool %q%s", p.Config, p.Name, hint.DidYouMean(p.Name, names)),
		"ceph osd pool create "+p.Name+" && rbd pool init "+p.Name)
}

// HasFileSystem returns an error if the cluster has no CephFS of that name. The pool needs
// no name.
func (p Pool) HasFileSystem(ctx context.Context, name string) error {
	ctx, stop := context.WithTimeout(ctx, 4*mount*time.Second)
	defer stop()
	var all []struct{ Name string }
	if err := p.ask(ctx, &all, "fs", "ls"); err != nil {
		return err
	}
	var names []string
	for _, x := range all {
		names = append(names, x.Name)
	}
	if !slices.Contains(names, name) {
		return hint.New(fmt.Errorf("the Ceph cluster of %s has no file system %q%s", p.Config, name, hint.DidYouMean(name, names)), "ceph fs ls shows what it has")
	}
	return nil
}

// ask runs a command of ceph and decodes its JSON.
func (p Pool) ask(ctx context.Context, answer any, question ...string) error {
	out, err := p.run(ctx, "ceph", append([]string{"--connect-timeout", strconv.Itoa(mount), "--format", "json"}, question...)...)
	if err != nil {
		return hint.New(err, cmp.Or(hint.Of(err), "ceph --conf "+p.Config+" -s has to work"))
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("read what ceph %s printed: %w", strings.Join(question, " "), err)
	}
	return nil
}

// Create makes an image of at least size bytes; os.ErrExist: the name is taken. The image has
// only the feature layering. With an exclusive lock the cluster would blocklist a killed
// client when its image is removed.
func (i Image) Create(ctx context.Context, size int64) error {
	const mega = 1 << 20
	_, err := i.rbd(ctx, "create", "--image-feature", "layering", "--size", strconv.FormatInt((size+mega-1)/mega, 10), i.String())
	if exitCode(err) == int(unix.EEXIST) {
		return fmt.Errorf("make the image %s: %w", i, os.ErrExist)
	}
	return err
}

// busyBound is how long Remove waits for an image in use: a killed client counts as a user
// for half a minute (osd_client_watch_timeout).
const busyBound = 45 * time.Second

// Remove removes an image. A missing image is no error.
func (i Image) Remove(ctx context.Context) error {
	for end := time.Now().Add(busyBound); ; {
		_, err := i.rbd(ctx, "rm", "--no-progress", i.String())
		switch code := exitCode(err); {
		case code == int(unix.ENOENT): // the image, or its pool
			return nil
		case code != int(unix.EBUSY), time.Now().After(end): // or nil
			return hint.New(err, "rbd --conf "+i.Config+" rm "+i.String())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// rbd runs Ceph's tool for images.
func (i Image) rbd(ctx context.Context, args ...string) ([]byte, error) {
	const limit = 5 * time.Minute // a large image has many objects to remove
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	return i.run(ctx, "rbd", append([]string{
		"--client_mount_timeout=" + strconv.Itoa(mount), "--rados_mon_op_timeout=" + strconv.Itoa(request), "--rados_osd_op_timeout=" + strconv.Itoa(request),
	}, args...)...)
}

// run runs one of Ceph's tools to its end. It dies with this process.
func (p Pool) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, hint.New(err, Packages)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, append([]string{"--conf", p.Config}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	// Ctrl-C in the terminal is for this process alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := child.Run(cmd); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("the Ceph cluster of %s does not answer: %w", p.Config, ctx.Err())
		}
		return nil, fmt.Errorf("%s: %w%s", program, err, lastLine(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// Packages is the command that installs Ceph's tools.
const Packages = "apt-get install ceph-common"

// lastLine is the last line of a tool's output, for the end of an error.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if line := strings.TrimSpace(lines[len(lines)-1]); line != "" {
		return ": " + line
	}
	return ""
}

// exitCode is the exit code of a tool, which is an errno; 0 for other errors.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode()
	}
	return 0
}
