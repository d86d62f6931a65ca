package run

import (
	"fmt"
	"os"
	"testing"

	"github.com/tarelab/tare/internal/linux/proc"
)

// unmapProgram drops pages of the program's file from memory, and the program goes on.
func TestUnmapProgram(t *testing.T) {
	file := func() (kib int) {
		status, err := proc.FS("/").Status(os.Getpid())
		if err == nil {
			_, err = fmt.Sscanf(status["RssFile"], "%d kB", &kib)
		}
		if err != nil {
			t.Fatal(err)
		}
		return kib
	}
	before := file()
	unmapProgram()
	if after := file(); after > before*3/4 {
		t.Errorf("%d KiB of files are mapped, and were %d", after, before)
	}
}
