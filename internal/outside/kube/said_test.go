package kube

import (
	"strings"
	"testing"
)

// TestSaid: a command with endless output does not fill the memory.
func TestSaid(t *testing.T) {
	var s Said
	for range 100 {
		if n, err := s.Write([]byte(" " + strings.Repeat("a", 1000))); n != 1001 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if got := len(s.String()); got != mostSaid-1 {
		t.Errorf("%d bytes are kept, want %d without the space before them", got, mostSaid-1)
	}
}
