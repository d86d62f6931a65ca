package cgroup

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// OwnMemory is the least memory limit, in bytes, of this process's groups that groups made here do not have, because
// they are made above; 0: there is none.
func (t *Tree) OwnMemory() uint64 {
	mounts, err := mountsIn(t.proc)
	if err != nil {
		return 0
	}
	own, err := t.proc.Cgroups("self")
	if err != nil {
		return 0
	}
	least := uint64(math.MaxUint64)
	for _, m := range mounts {
		name, file := "memory", "memory.limit_in_bytes"
		if m.Type == "cgroup2" {
			name, file = "", "memory.max"
		}
		if m.Type == "cgroup" && !has(m, name) {
			continue
		}
		point := t.proc.Path(m.Point)
		base := t.at[name]
		if m.Type == "cgroup2" {
			base = t.at[Unified]
		}
		for dir := filepath.Join(point, below(own[name], m.Root)); base != "" && dir != base && strings.HasPrefix(dir, point+"/"); dir = filepath.Dir(dir) {
			if limit, ok := bytesIn(filepath.Join(dir, file)); ok {
				least = min(least, limit)
			}
		}
	}
	if least == math.MaxUint64 {
		return 0
	}
	return least
}

// noLimit is far above every memory limit: version 1 writes one near 2^63 where there is none.
const noLimit = 1 << 60

// bytesIn is the limit in a file of a group; false: there is no file or no limit.
func bytesIn(file string) (uint64, bool) {
	text, err := readFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil && n < noLimit
}
