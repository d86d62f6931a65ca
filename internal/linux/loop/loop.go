// Package loop makes block devices of files. The kernel frees a device when no process has it
// open or mounted any longer, so a killed process leaves none behind. The package knows devices
// and not what is on them.
package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Device is a loop device that this process holds open.
type Device struct {
	// Path is the device node, such as /dev/loop3.
	Path string

	file string // the backing file
	node *os.File
}

// tries is how often Attach looks for a free device: another process may take it first.
const tries = 20

// Attach makes a device of a file, which is an absolute path. The device bypasses the page
// cache for the file if the file system below allows direct I/O.
func Attach(file string) (*Device, error) {
	d, err := attach(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("make a loop device of %s: %w", file, err)
	}
	return d, nil
}

func attach(file string) (*Device, error) {
	back, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer back.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	for range tries {
		var n int
		if n, err = unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE); err != nil {
			return nil, err
		}
		var d *Device
		if d, err = bind(n, back); err == nil {
			return d, nil
		}
		if !errors.Is(err, unix.EBUSY) { // EBUSY: another process was first
			return nil, err
		}
	}
	return nil, err
}

// bind binds the file to free device n.
func bind(n int, back *os.File) (*Device, error) {
	d := &Device{Path: "/dev/loop" + strconv.Itoa(n), file: back.Name()}
	var err error
	if d.node, err = os.OpenFile(d.Path, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	config := unix.LoopConfig{Fd: uint32(back.Fd())}
	config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR | unix.LO_FLAGS_DIRECT_IO
	copy(config.Info.File_name[:len(config.Info.File_name)-1], back.Name())
	err = unix.IoctlLoopConfigure(int(d.node.Fd()), &config)
	if errors.Is(err, unix.EINVAL) { // before Linux 5.8, or no direct I/O
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		if err = unix.IoctlLoopConfigure(int(d.node.Fd()), &config); errors.Is(err, unix.EINVAL) {
			err = d.bindOld(back, &config.Info)
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.node.Close())
	}
	return d, nil
}

// bindOld binds the file on kernels before Linux 5.8.
func (d *Device) bindOld(back *os.File, info *unix.LoopInfo64) error {
	if err := unix.IoctlSetInt(int(d.node.Fd()), unix.LOOP_SET_FD, int(back.Fd())); err != nil {
		return err
	}
	if err := unix.IoctlLoopSetStatus64(int(d.node.Fd()), info); err != nil {
		return errors.Join(err, unix.IoctlSetInt(int(d.node.Fd()), unix.LOOP_CLR_FD, 0))
	}
	_ = unix.IoctlSetInt(int(d.node.Fd()), unix.LOOP_SET_DIRECT_IO, 1) // may fail: the facts of the volume show it
	return nil
}

func (d *Device) sys(name string) string {
	return filepath.Join("/sys/block", filepath.Base(d.Path), "loop", name)
}

// Release closes the device, which lives on while it is mounted. It may be called twice.
func (d *Device) Release() error {
	if d.node == nil {
		return nil
	}
	err := d.node.Close()
	d.node = nil
	return err
}

// gone is how long a device may take to be free: the kernel needs milliseconds, and a program that got a mount
// namespace of its own meanwhile, with a copy of the mount, keeps it until it ends (a server that fills its data
// took 4 s on a busy host).
const gone = 15 * time.Second

// Gone waits until the kernel has freed the device, after Release and the unmount.
func (d *Device) Gone() error {
	for end := time.Now().Add(gone); ; time.Sleep(2 * time.Millisecond) {
		// Another process may have the device as soon as it is free.
		b, err := os.ReadFile(d.sys("backing_file"))
		if err != nil || !strings.HasPrefix(string(b), d.file) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is still there %v after it was let go", d.Path, gone)
		}
	}
}
