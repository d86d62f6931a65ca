package engine

import (
	"os"
	"slices"
	"testing"
)

func TestParseLimits(t *testing.T) {
	text := `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max processes             96365                unlimited            processes 
Max open files            1024                 unlimited            files     
Max locked memory         8388608              8388608              bytes     
`
	if got, want := parseLimits(text, 32768), []string{"--ulimit", "nofile=1024:-1", "--ulimit", "nproc=32768:32768"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Fatal(err)
	}
	if got := parseLimits(string(b), pidMax()); len(got) != 4 {
		t.Errorf("of this kernel: %q", got)
	}
}
