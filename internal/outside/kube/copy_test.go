package kube

import (
	"os"
	"strings"
	"testing"
)

// A binary that needs a loader is refused before it is copied.
func TestStatic(t *testing.T) {
	sh, err := os.Open("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	defer sh.Close()
	if err := static(sh); err == nil {
		t.Skip("this host's sh is static")
	} else if !strings.Contains(err.Error(), "libraries") {
		t.Error(err)
	}
}
