package journal

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
)

// self is the header that this process writes.
func self(run string) (Header, error) {
	start, err := startTicks(os.Getpid())
	if err != nil {
		return Header{}, err
	}
	boot, err := bootID()
	return Header{Schema: Schema, Run: run, Pid: os.Getpid(), Start: start, Boot: boot,
		Command: os.Args, Time: time.Now().UTC()}, err
}

// bootID is the kernel's id of this boot.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

// startTicks is when a process started, in clock ticks since boot.
func startTicks(pid int) (uint64, error) {
	p, err := proc.FS("/").Process(pid)
	return p.Start, err
}

func lock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// writtenIn says in which boot of the machine a journal was written.
type writtenIn int

const (
	thisBoot writtenIn = iota
	earlierBoot
	unknownBoot // the header has no boot id, or the kernel gives none
)

func (h Header) writtenIn() writtenIn {
	boot, err := bootID()
	switch {
	case err != nil || h.Boot == "":
		return unknownBoot
	case h.Boot != boot:
		return earlierBoot
	}
	return thisBoot
}

// alive says whether the process that wrote the header still runs.
func (h Header) alive() bool {
	boot, err := bootID()
	if err != nil || boot != h.Boot {
		return false
	}
	p, err := proc.FS("/").Process(h.Pid)
	return err == nil && p.Start == h.Start && !p.Over()
}
