package imagebuild

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// object is the part of an ELF file that decides on its libraries.
type object struct {
	loader string // path of its dynamic loader; empty for a library or a static program
	needs  bool   // it needs libraries
}

// machines are the architectures of tare's binary.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// errForeign means that a program is for another architecture.
var errForeign = errors.New("for another architecture")

// readObject reads an ELF file; ok is false for any other.
func readObject(path string) (o object, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return o, false, err
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, []byte(elf.ELFMAG)) {
		return o, false, nil
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return o, false, nil // not a valid ELF file; its loader will report it
	}
	if want, known := machines[runtime.GOARCH]; known && e.Machine != want {
		return o, false, fmt.Errorf("%s is %w: %v, and this machine is %s", path, errForeign, e.Machine, runtime.GOARCH)
	}
	for _, p := range e.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(p.Open())
		if err != nil {
			return o, false, fmt.Errorf("read the loader of %s: %w", path, err)
		}
		o.loader = strings.TrimRight(string(name), "\x00")
	}
	needed, err := e.ImportedLibraries()
	if err != nil {
		return o, false, fmt.Errorf("read the libraries of %s: %w", path, err)
	}
	o.needs = len(needed) > 0
	return o, true, nil
}

// libraries are the paths of all libraries that a program or library needs, directly or not, as this
// host's loader finds them.
func libraries(ctx context.Context, loader, path string) ([]string, error) {
	cmd := exec.CommandContext(ctx, loader, "--list", path)
	cmd.Env = []string{"LC_ALL=C", pathVariable} // no LD_LIBRARY_PATH: the image has none either
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("find the libraries of %s: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	return parseLibraries(path, string(out))
}

// parseLibraries reads the list that the loaders of glibc and musl print.
func parseLibraries(path, text string) ([]string, error) {
	var all []string
	for line := range strings.Lines(text) {
		name, found, arrow := strings.Cut(strings.TrimSpace(line), " => ")
		if !arrow {
			found = name // the loader itself, or linux-vdso, which has no file
		}
		file, _, _ := strings.Cut(found, " (")
		switch {
		case strings.HasPrefix(found, "not found"):
			return nil, fmt.Errorf("%s needs %s, which is not on this host", path, name)
		case strings.HasPrefix(file, "/"):
			all = append(all, file)
		}
	}
	return all, nil
}
