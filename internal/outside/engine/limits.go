package engine

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// hostLimits are the arguments with which Podman gives a container the resource limits of
// tare's children. By default Podman raises them, for which root may lack the capability;
// --ulimit host does not prevent that in Podman 4.
func hostLimits(ctx context.Context) ([]string, error) {
	// Of a child, because the Go runtime raises the limits of this process.
	out, err := exec.CommandContext(ctx, "cat", "/proc/self/limits").Output()
	if err != nil {
		return nil, fmt.Errorf("read the limits of a process: %w", err)
	}
	return parseLimits(string(out), pidMax()), nil
}

// pidMax is kernel.pid_max. Podman lowers its own limit of processes to it, and cannot give
// a container more.
func pidMax() int64 {
	b, err := os.ReadFile("/proc/sys/kernel/pid_max")
	n, numErr := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || numErr != nil {
		return math.MaxInt64
	}
	return n
}

// parseLimits reads the limits that Podman changes from proc_pid_limits(5).
func parseLimits(text string, pidMax int64) (args []string) {
	for _, l := range []struct {
		kernels, podmans string
		most             int64
	}{{"Max open files ", "nofile", math.MaxInt64}, {"Max processes ", "nproc", pidMax}} {
		for line := range strings.Lines(text) {
			rest, ok := strings.CutPrefix(line, l.kernels)
			if f := strings.Fields(rest); ok && len(f) > 1 {
				args = append(args, "--ulimit", l.podmans+"="+atMost(f[0], l.most)+":"+atMost(f[1], l.most))
			}
		}
	}
	return args
}

// atMost is the smaller of a limit and most; "-1" is no limit.
func atMost(limit string, most int64) string {
	n, err := strconv.ParseInt(limit, 10, 64)
	switch {
	case err == nil && n < most:
		return limit
	case most == math.MaxInt64:
		return "-1"
	}
	return strconv.FormatInt(most, 10)
}
