package journal

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
)

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

// since says in which boot of the machine a journal was written.
type since int

const (
	sinceThis since = iota
	sinceEarlier
	sinceUnknown // neither the journal nor the kernel may say
)

func (h Header) since() since {
	boot, err := bootID()
	switch {
	case err != nil || h.Boot == "":
		return sinceUnknown
	case h.Boot != boot:
		return sinceEarlier
	}
	return sinceThis
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
