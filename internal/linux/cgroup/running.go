package cgroup

import (
	"path/filepath"
	"strings"
)

// running lists threads that seem not to be stopped, as "id (name) state where it waits": those
// on a CPU (R) or waiting for a disk (D). A thread frozen by version 2 sleeps (S). One frozen
// by version 1 is in state D too, so the place where it waits decides.
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

// threadState describes a thread; empty: it sleeps or has ended.
func threadState(dir string) string {
	stat, _ := readFile(filepath.Join(dir, "stat"))
	end := strings.LastIndexByte(stat, ')') // the name may have brackets
	if end < 0 || end+2 >= len(stat) || (stat[end+2] != 'R' && stat[end+2] != 'D') {
		return ""
	}
	wait, _ := readFile(filepath.Join(dir, "wchan"))
	if wait == "__refrigerator" {
		return ""
	}
	return strings.TrimSpace(stat[:end+3] + " " + wait)
}
