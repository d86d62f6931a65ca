package cgroup

import (
	"path/filepath"
	"strings"
)

// running lists threads that seem not to be stopped, as "id (name) state where
// it waits": those on a CPU (R) or waiting for a disk (D). What version 2 froze
// sleeps (S); what version 1 froze shows as D too, so there the place where it
// waits tells.
func (g Group) running() []string {
	pids, _ := g.Pids()
	var all []string
	for _, pid := range pids {
		tasks, _ := filepath.Glob(g.Tree.proc.Pid(pid, "task/*"))
		for _, dir := range tasks {
			if s := threadState(dir); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// threadState describes a thread, or is empty for one that sleeps or is gone.
func threadState(dir string) string {
	stat, _ := readFile(filepath.Join(dir, "stat"))
	end := strings.LastIndexByte(stat, ')') // the name may hold brackets
	if end < 0 || end+2 >= len(stat) || (stat[end+2] != 'R' && stat[end+2] != 'D') {
		return ""
	}
	wait, _ := readFile(filepath.Join(dir, "wchan"))
	if wait == "__refrigerator" {
		return ""
	}
	return strings.TrimSpace(stat[:end+3] + " " + wait)
}
