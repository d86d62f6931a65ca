// Package oom says whom the kernel ends first when memory runs out: a process of
// tare's, and never the database that a host is there for.
package oom

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Scores of proc(5)'s oom_score_adj, from -1000 to 1000. Load is that of every load and
// server of tare's own, Neighbour that of what only makes noise.
const (
	Load      = 900
	Neighbour = 1000
)

const file = "/proc/self/oom_score_adj"

// Score is that of this process.
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

// Offer raises the score of this process, and of what it will start, to at least this
// one.
func Offer(score int) error {
	if now, err := Score(); err != nil || now >= score {
		return err
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(score)), 0); err != nil {
		return fmt.Errorf("offer this process to the out-of-memory killer: %w", err)
	}
	return nil
}
