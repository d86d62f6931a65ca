package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/oci"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// trials tries all features. A feature that needs another one that is missing has that one's answer.
func trials(ctx context.Context, back *undoing, scratch string, tools map[string]facts.Tool) map[string]facts.Support {
	user := os.Geteuid() != 0
	thread := launch.NewThread()
	defer thread.Close()
	child := func(change func(*launch.Child) error) error {
		return tryChild(ctx, thread, user, change)
	}
	answers := map[string]facts.Support{}
	try := func(feature, needs, remedy string, f func() error) {
		if s := answers[needs]; needs != "" && s.Answer != facts.Yes {
			answers[feature] = s
			return
		}
		answers[feature] = answer(f(), remedy)
	}
	try(facts.FeatureNamespaces, "", namespacesRemedy(user), func() error {
		return child(func(*launch.Child) error { return nil })
	})
	try(facts.FeatureOverlay, facts.FeatureNamespaces, "modprobe overlay; name a directory on ext4, xfs or btrfs with --scratch", func() error {
		return tryOverlay(back, scratch, user, child)
	})
	try(facts.FeatureSeccomp, facts.FeatureNamespaces, "a kernel with CONFIG_SECCOMP_FILTER", func() error {
		return child(func(c *launch.Child) (err error) {
			c.Request.Security, err = launch.DockerSecurity()
			return err
		})
	})
	if user {
		no := facts.Unsupported(record.Say("user_cannot_connect"), facts.AsRoot())
		answers[facts.FeatureNetwork], answers[facts.FeatureNAT] = no, no
	} else {
		try(facts.FeatureNetwork, "", "modprobe bridge veth", func() error { return tryNetwork(0) })
		try(facts.FeatureNAT, facts.FeatureNetwork, "modprobe nf_tables nft_chain_nat", func() error { return tryNetwork(1) })
	}
	answers[facts.FeatureContainer] = container(tools, user)
	answers[facts.FeatureDocker], answers[facts.FeaturePodman] = docker(ctx, user), podman()
	answers[facts.FeatureRealtime] = answer(tryRealtime(), "run as root, or allow it: ulimit -r 1")
	return answers
}

// unclear are errors that do not show whether the kernel has a feature, with remedies.
var unclear = []struct {
	err    error
	remedy string
}{
	{context.DeadlineExceeded, "try again when this host is less busy"},
	{context.Canceled, "try again"},
	{unix.EAGAIN, "raise the limit of processes: ulimit -u, or pids.max of the session's group"},
	{unix.ENOMEM, "try again with more memory free"},
	{unix.ENOSPC, "free some space, or name another directory with --scratch"},
	{unix.EDQUOT, "raise the quota, or name another directory with --scratch"},
	{unix.EMFILE, "raise the limit of open files: ulimit -n"},
	{unix.EROFS, "name a directory that can be written with --scratch"},
}

// answer makes an answer of an error: none is yes, an unclear one is unknown, every other one is no.
func answer(err error, remedy string) facts.Support {
	if err == nil {
		return facts.Supported()
	}
	if errors.Is(err, errNoJournal) {
		return facts.Unclear(err)
	}
	for _, u := range unclear {
		if errors.Is(err, u.err) {
			return facts.Unclear(hint.New(err, u.remedy))
		}
	}
	return facts.Refused(hint.New(err, remedy))
}

// tryChild starts a child that executes tare's binary with wrong arguments, which ends at once.
func tryChild(ctx context.Context, thread *launch.Thread, user bool, change func(*launch.Child) error) error {
	c := launch.Inside(environment.Process{Args: []string{launch.InitCommand}})
	c.Clone = launch.Namespaces(user)
	if err := change(&c); err != nil {
		return err
	}
	p, err := thread.Start(ctx, c)
	if err != nil {
		return err
	}
	err = p.Kill()
	<-p.Done()
	return err
}

// tryOverlay mounts an overlay over the host's root in a child.
func tryOverlay(back *undoing, scratch string, user bool, child func(func(*launch.Child) error) error) error {
	dir := filepath.Join(scratch, journal.Prefix+back.run+"-overlay")
	var tried error
	err := back.with(steps.Directory{Path: dir}, func() error {
		if tried = os.Mkdir(dir, 0o700); tried == nil {
			tried = overlayIn(dir, user, child)
		}
		return steps.RemoveDirectory(dir)
	})
	return errors.Join(tried, err)
}

func overlayIn(dir string, user bool, child func(func(*launch.Child) error) error) error {
	dirs, err := launch.MakeRootDirs(dir, "")
	if err != nil {
		return err
	}
	return child(func(c *launch.Child) error {
		c.Request.Root = dirs.Request(launch.DockerMounts(), user)
		return os.MkdirAll(filepath.Join(dirs.Upper, launch.Volume), 0o755)
	})
}

// tryNetwork makes a network, with a published port if port is not 0.
func tryNetwork(port int) error {
	n, err := launch.NewNetwork(port)
	if err != nil {
		return err
	}
	return n.Close()
}

// tryRealtime sets a real-time policy on a thread and resets it.
func tryRealtime() error {
	thread := launch.NewThread()
	defer thread.Close()
	var err error
	closed := thread.Do(func() {
		fifo := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
		if err = unix.SchedSetAttr(0, fifo, 0); err != nil {
			err = fmt.Errorf("set SCHED_FIFO: %w", err)
			return
		}
		err = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0)
	})
	return errors.Join(closed, err)
}

// container says whether there is an OCI runtime that this user can use.
func container(tools map[string]facts.Tool, user bool) facts.Support {
	switch {
	case user:
		return facts.Unsupported(record.Say("oci_needs_root"), facts.AsRoot())
	case !slices.ContainsFunc(oci.Runtimes(), func(name string) bool { return tools[name].Path != "" }):
		return facts.Unsupported(record.Say("no_oci_runtime"), record.Say("install_runc"))
	}
	return facts.Supported()
}

func namespacesRemedy(user bool) string {
	if user {
		return "run as root; where AppArmor restricts user namespaces (Ubuntu), a profile with userns for this binary allows them to tare alone"
	}
	return "give tare CAP_SYS_ADMIN (in a container: --privileged)"
}
