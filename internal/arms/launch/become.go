package launch

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/seccomp"
)

// join enters control groups and namespaces. Groups come first: the root of a cgroup namespace is
// the group of the process that makes it.
func join(r Request, socket int) error {
	for _, file := range r.Tasks {
		if err := os.WriteFile(file, []byte("0"), 0); err != nil {
			return fmt.Errorf("join the control group: %w", err)
		}
	}
	if err := r.Member.check("thread-self"); err != nil {
		return err
	}
	if r.Net {
		if err := unix.Setns(socket+1, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network namespace: %w", err)
		}
	}
	if r.CgroupNS {
		if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
			return fmt.Errorf("make a cgroup namespace: %w", err)
		}
	}
	return nil
}

// mounts makes the child's mounts and its root file system.
func mounts(r Request) error {
	if !r.MountNS {
		return nil
	}
	if err := namespace.Private(); err != nil {
		return err
	}
	if r.Root != nil {
		return enter(*r.Root)
	}
	if r.PidNS {
		return namespace.Proc()
	}
	return nil
}

// enter makes a root file system and makes it the child's root.
func enter(root Root) error {
	if root.Plain {
		return enterPlain(root)
	}
	if err := root.Overlay.Mount(root.Point); err != nil {
		return err
	}
	if root.Only {
		return namespace.Mask(root.Hidden)
	}
	list := root.Mounts
	if root.User {
		list = userMounts(list)
	}
	for _, m := range list {
		if err := namespace.Mount(root.Point, m); err != nil {
			return err
		}
	}
	if err := namespace.Devices(root.Point+"/dev", root.User); err != nil {
		return err
	}
	if err := namespace.PivotRoot(root.Point); err != nil {
		return err
	}
	if err := namespace.Mask(root.Masked); err != nil {
		return err
	}
	return namespace.ReadOnly(root.ReadOnly)
}

// enterPlain makes a directory the child's root.
func enterPlain(root Root) error {
	// pivot_root(2) wants a mount point.
	if err := unix.Mount(root.Point, root.Point, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", root.Point, err)
	}
	for _, m := range root.Mounts {
		if err := namespace.Mount(root.Point, m); err != nil {
			return err
		}
	}
	return namespace.PivotRoot(root.Point)
}

// setNameAndDir sets the host name and the working directory.
func setNameAndDir(r Request) error {
	if r.Hostname != "" {
		if err := unix.Sethostname([]byte(r.Hostname)); err != nil {
			return fmt.Errorf("set the host name: %w", err)
		}
	}
	if err := os.Chdir(r.Dir); err != nil {
		return fmt.Errorf("enter the working directory: %w", err)
	}
	return nil
}

// dropPrivileges installs the seccomp filter and drops capabilities, in this order, as runtimes do:
// Docker does not set no_new_privs, so the filter needs CAP_SYS_ADMIN, which is dropped next.
func dropPrivileges(s *Security) error {
	if s == nil {
		return nil
	}
	keep, err := namespace.Capabilities(s.Capabilities)
	if err != nil {
		return err
	}
	filter, err := seccomp.New(s.Seccomp)
	if err != nil {
		return err
	}
	if err := namespace.DropBounding(keep); err != nil {
		return err
	}
	if err := filter.Install(); err != nil {
		return err
	}
	return namespace.SetCapabilities(keep)
}
