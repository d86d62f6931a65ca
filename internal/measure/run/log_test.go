package run

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLogFollowsNoLink: a load's log is not written through a link.
func TestLogFollowsNoLink(t *testing.T) {
	target, link := filepath.Join(t.TempDir(), "precious"), filepath.Join(t.TempDir(), "oltp-host-0.log")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if f, err := createLog(link); err == nil {
		f.Close()
		t.Error("created through a link")
	}
	if b, err := os.ReadFile(target); err != nil || string(b) != "kept" {
		t.Errorf("behind the link: %q %v", b, err)
	}
}
