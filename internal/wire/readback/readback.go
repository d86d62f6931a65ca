// Package readback is the file in which a load reports the settings that it read back from a server:
// an anonymous file that the load inherits, with one record.Setting per line as JSON.
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

// name is the name of the anonymous file. A load checks the name of an inherited descriptor: the
// runtime of its language may have opened another file with that number.
const name = "tare-facts"

// Create makes the file. The caller closes it.
func Create() (*os.File, error) { return memfd.Create(name, nil) }

// Write writes settings to the file that this process inherited as descriptor fd. If fd is not such
// a file, Write does nothing.
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

// Read reads all settings that the load has written so far.
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
