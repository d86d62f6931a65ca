// Package oom decides which process the kernel kills first when memory runs out: one of tare's,
// never the host's own database.
package oom

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Values of oom_score_adj, see proc(5), from -1000 to 1000. Load is for every load and server
// that tare starts, Neighbour for neighbours.
const (
	Load      = 900
	Neighbour = 1000
)

const file = "/proc/self/oom_score_adj"

// Score is the value of this process.
func Score() (int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("read oom_score_adj: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", file, err)
	}
	return n, nil
}

// Offer raises the value of this process, which its children inherit, to score at least.
func Offer(score int) error {
	if now, err := Score(); err != nil || now >= score {
		return err
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(score)), 0); err != nil {
		return fmt.Errorf("offer this process to the out-of-memory killer: %w", err)
	}
	return nil
}
