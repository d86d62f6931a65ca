// Package wall confines a process that runs what a user gave, such as the SQL of a dump: it can write one
// directory and nothing else, whatever the text says and in whatever spelling. The package knows mounts,
// Landlock and capabilities, and not the programs behind the wall.
package wall

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/account"
)

// Wall describes what stays possible behind it.
type Wall struct {
	// Dir is the directory that stays writable, an absolute path without links below it.
	Dir string
	// Programs are files that have to stay visible, see hidden.
	Programs []string
	// Loopback leaves a network of the loopback interface alone.
	Loopback bool
	// OwnRoot is true if everything outside of Dir ends with the process's container: there the wall may be
	// the container's alone.
	OwnRoot bool
}

// errNone means that the kernel gives this process no wall.
var errNone = errors.New("no wall against what its SQL could do")

// Raise puts the calling thread, and what it executes, behind the wall. Root with CAP_SYS_ADMIN gets a mount
// namespace in which all other files are read-only, and everybody Landlock, if the kernel has it: it also bars
// the way through /proc to the files that other processes see. The thread must not be used for anything else.
func (w Wall) Raise() error {
	mounts := errNoMounts
	if account.CanMount() {
		mounts = w.mounts()
	}
	locked := w.landlock(mounts != nil)
	if mounts != nil && locked != nil && !w.OwnRoot {
		return none(errors.Join(mounts, locked))
	}
	return nil
}

func none(why error) error {
	return hint.New(fmt.Errorf("%w: %w", errNone, why),
		"run tare as root and outside of a container, or with Linux 5.13 or later, whose Landlock needs no rights")
}

var errNoMounts = errors.New("this process may not mount")

// Possible returns why there would be no wall, or nil. It confines nothing.
func Possible() error {
	if account.CanMount() {
		return nil
	}
	if _, err := landlockVersion(); err != nil {
		return none(err)
	}
	return nil
}

// mounts makes the mount namespace.
func (w Wall) mounts() error {
	flags := unix.CLONE_NEWNS
	if w.Loopback {
		flags |= unix.CLONE_NEWNET
	}
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	// Unmounts of the host must reach this namespace.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separate its mounts: %w", err)
	}
	if w.Loopback {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("set the loopback interface up: %w", err)
		}
	}
	if err := w.bind(); err != nil {
		return err
	}
	return w.close()
}
