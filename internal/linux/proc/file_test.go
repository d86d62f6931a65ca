package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The kernel ends a read before a record that does not fit: after the 902 bytes of mountstats
// before the first NFS 4 mount, whose record is 3 KiB long.
func TestLongRecords(t *testing.T) {
	whole := append(bytes.Repeat([]byte("m"), 902), bytes.Repeat([]byte("n"), 3000)...)
	pread := func(_ int, p []byte, offset int64) (int, error) {
		if offset < 902 {
			return copy(p, whole[offset:902]), nil
		}
		return copy(p, whole[offset:]), nil
	}
	for name, want := range map[string]int{"mountstats": 3902, "stat": 902} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var buf []byte
		if got, err := f.whole(&buf, pread); err != nil || len(got) != want {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(got), want, err)
		}
	}
}
