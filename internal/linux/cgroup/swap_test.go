package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSwapLimit checks the limit of swap beside one of memory, for both versions, and on kernels without such a limit.
func TestSwapLimit(t *testing.T) {
	const m = 64 << 20
	for name, c := range map[string]struct {
		v2    bool
		file  string // that the kernel has
		limit Limits
		write string // empty: no limit of swap
		reads map[string]string
	}{
		"version 2":                  {true, "memory.swap.max", Limits{Memory: m, Swap: m}, "67108864", map[string]string{"67108864": "67108864", "max": "none", "0": "0"}},
		"version 1":                  {false, "memory.memsw.limit_in_bytes", Limits{Memory: m, Swap: m}, "134217728", map[string]string{"134217728": "67108864", "9223372036854771712": "none"}},
		"version 2, not accounted":   {true, "other", Limits{Memory: m, Swap: m}, "", nil},
		"version 1, not accounted":   {false, "other", Limits{Memory: m, Swap: m}, "", nil},
		"memory alone":               {true, "memory.swap.max", Limits{Memory: m}, "", nil},
		"no limit of memory, no one": {true, "memory.swap.max", Limits{Swap: m}, "", nil},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		got := swapLimit(c.limit, c.v2, dir)
		if c.write == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v, want nothing", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].write != c.write || got[0].file != c.file || got[0].wanted != "67108864" {
			t.Errorf("%s: %+v, want %s in %s", name, got, c.write, c.file)
			continue
		}
		for read, want := range c.reads {
			if is := got[0].got(read); is != want {
				t.Errorf("%s: %s reads as %s, want %s", name, read, is, want)
			}
		}
	}
}
