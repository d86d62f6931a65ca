// Package readback is how a load tells tare what it read back from a server: an
// anonymous file that the load inherits, with one record.Setting per line. It
// knows the file and nothing of what is said in it.
package readback

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/record"
)

// name is that of the anonymous file: by it the load knows the descriptor from
// one that the runtime of its language happened to open.
const name = "tare-facts"

// Create makes the file; the caller closes it.
func Create() (*os.File, error) { return memfd.Create(name, nil) }

// Write writes settings to the file that this process inherited as fd; without
// one it does nothing.
func Write(fd int, settings []record.Setting) error {
	link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || !strings.HasPrefix(link, "/memfd:"+name) {
		return nil
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("write facts: %w", err)
	}
	f := os.NewFile(uintptr(own), name)
	defer f.Close()
	e := json.NewEncoder(f)
	for _, s := range settings {
		if err := e.Encode(s); err != nil {
			return fmt.Errorf("write facts: %w", err)
		}
	}
	return nil
}

// Read reads what was written up to now.
func Read(f *os.File) ([]record.Setting, error) {
	var out []record.Setting
	for d := json.NewDecoder(io.NewSectionReader(f, 0, 1<<30)); ; {
		var s record.Setting
		switch err := d.Decode(&s); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, fmt.Errorf("read facts: %w", err)
		}
		out = append(out, s)
	}
}
