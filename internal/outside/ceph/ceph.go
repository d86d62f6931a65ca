// Package ceph makes images in a pool of a Ceph cluster with Ceph's own tools, has the
// kernel's client map them, and removes them. It knows nothing of what is in an image, and
// touches none whose whole name it was not told.
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

// defaultConfig is where Ceph's tools look.
const defaultConfig = "/etc/ceph/ceph.conf"

// Config is the file that says where the cluster is: the first of $CEPH_CONF.
func Config() string {
	first, _, _ := strings.Cut(os.Getenv("CEPH_CONF"), ",")
	if path, err := filepath.Abs(first); first != "" && err == nil {
		return path
	}
	return defaultConfig
}

// Pool of a cluster.
type Pool struct {
	Config string // file that says where the cluster is
	Name   string
}

// Image of a pool.
type Image struct {
	Pool
	Name string
}

// String is what Ceph's tools call it.
func (i Image) String() string { return i.Pool.Name + "/" + i.Name }

// How long a cluster that is well takes at most, in seconds, to be found and for
// one request.
const (
	mount   = 5
	request = 30
)

// Free is how many bytes can still be written to a pool, of which its replicas
// are taken off already.
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
	// The manager counts space, and is seconds behind.
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

// HasFileSystem says whether the cluster has a file system of a name. The pool needs none.
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

// ask asks the cluster something and decodes the answer.
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

// Create makes an image of at least size bytes, with the feature layering alone: where there
// is an exclusive lock, removing an image whose client was killed puts that client on the
// cluster's blocklist. An image that is there already is os.ErrExist.
func (i Image) Create(ctx context.Context, size int64) error {
	const mega = 1 << 20
	_, err := i.rbd(ctx, "create", "--image-feature", "layering", "--size", strconv.FormatInt((size+mega-1)/mega, 10), i.String())
	if exitCode(err) == int(unix.EEXIST) {
		return fmt.Errorf("make the image %s: %w", i, os.ErrExist)
	}
	return err
}

// A client that was killed counts as a user of its image for half a minute
// (osd_client_watch_timeout); leaves is how long that is waited for.
const leaves = 45 * time.Second

// Remove removes an image. One that is not there is fine.
func (i Image) Remove(ctx context.Context) error {
	for end := time.Now().Add(leaves); ; {
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

// rbd runs the tool for images.
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
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, path, append([]string{"--conf", p.Config}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = time.Second
	// Ctrl-C in the terminal is for this process alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := child.Run(cmd); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer from the Ceph cluster of %s: %w", p.Config, ctx.Err())
		}
		return nil, fmt.Errorf("%s: %w%s", program, err, last(said.Bytes()))
	}
	return out.Bytes(), nil
}

// Packages is how to get the tools.
const Packages = "apt-get install ceph-common"

// last is what a tool said last, for the end of an error.
func last(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if line := strings.TrimSpace(lines[len(lines)-1]); line != "" {
		return ": " + line
	}
	return ""
}

// exitCode of a tool that ended by itself: an error number of the kernel's; 0
// for everything else.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode()
	}
	return 0
}
