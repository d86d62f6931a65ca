package journal

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
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

// bootID differs between starts of the machine.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

// startTicks is when a process started, in clock ticks since boot: with the
// pid it names a process for good.
func startTicks(pid int) (uint64, error) {
	ticks, _, err := started(pid)
	return ticks, err
}

// started also says whether the process is over and only not reaped.
func started(pid int) (ticks uint64, over bool, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false, err
	}
	// The name in brackets may hold brackets and spaces.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	const field = 22 - 3 // the first after the name is number 3
	if len(f) <= field {
		return 0, false, fmt.Errorf("/proc/%d/stat has no start time", pid)
	}
	ticks, err = strconv.ParseUint(f[field], 10, 64)
	return ticks, strings.Contains("ZX", f[0]), err
}

func lock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// alive says whether the process that wrote a header still runs.
func (h Header) alive() bool {
	boot, err := bootID()
	if err != nil || boot != h.Boot {
		return false
	}
	start, over, err := started(h.Pid)
	return err == nil && start == h.Start && !over
}
