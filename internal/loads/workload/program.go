package workload

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/wire"
)

// namedProgram is the program of a command. args are its words, or, if shell is set, those of /bin/sh with the
// text. files are copied into the data directory, where the command starts.
func namedProgram(text string, args []string, shell bool, files []string) Named {
	check := func() error { return checkStart(args[0], files) }
	if shell {
		check = func() error { return checkShell(text) }
	}
	return Named{Param: "command", Value: text, InArm: true, Check: check}
}

// shellPath is the shell of shell=on.
const shellPath = "/bin/sh"

// checkShell returns why a shell could not execute a text: its syntax, or a program that is not there where the
// text is a single command. The shell executes nothing of the text.
func checkShell(text string) error {
	if err := startable(shellPath); err != nil {
		return err
	}
	if out, err := askShell("-n", "-c", text); err != nil {
		return hint.New(fmt.Errorf("%s cannot read it: %s", shellPath, strings.TrimSpace(out)), "sh -n -c 'COMMAND' checks it")
	}
	words, err := splitWords(text)
	if err != nil || len(words) == 0 || strings.Contains(words[0], "=") || strings.HasPrefix(words[0], "-") {
		return nil // the shell has more to say about it
	}
	if _, err := askShell("-c", `command -v "$1"`, "sh", words[0]); err == nil {
		return nil // of the shell itself, or in PATH
	}
	return checkStart(words[0], nil)
}

// askShell executes the shell as an arm does and returns its output.
func askShell(args ...string) (string, error) {
	c := exec.Command(shellPath, args...)
	c.Dir, c.Env = "/", []string{"PATH=" + wire.ProgramPath, "LANG=C.UTF-8"}
	out, err := c.CombinedOutput()
	return string(out), err
}

// checkStart returns why an arm could not start the program of a command: a name is looked up in the PATH of
// arms, a relative path in the data directory, which has copies of files.
func checkStart(name string, files []string) error {
	switch {
	case name == "":
		return hint.New(errors.New("the name of the program is empty"), "name a program, or its absolute path")
	case filepath.IsAbs(name):
		return startable(name)
	case strings.Contains(name, "/"):
		return copied(name, files)
	}
	for _, dir := range filepath.SplitList(wire.ProgramPath) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && unix.Access(path, unix.X_OK) == nil {
			return startable(path)
		}
	}
	err := fmt.Errorf("no program %s in the PATH of arms, %s", name, wire.ProgramPath)
	if path, lookErr := exec.LookPath(name); lookErr == nil && filepath.IsAbs(path) {
		return hint.New(err, "name it with its path: "+path)
	}
	return hint.New(err, "install it, or name its absolute path; shell=on takes a command of a shell")
}

// copied checks a relative path of a program, which has to be among the files that are copied into the data
// directory.
func copied(name string, files []string) error {
	first, rest, below := strings.Cut(filepath.Clean(name), "/")
	for _, f := range files {
		if filepath.Base(f) == first {
			if below {
				f = filepath.Join(f, rest)
			}
			return startable(f)
		}
	}
	return hint.New(fmt.Errorf("the command starts in the data directory of the arm, which has no %s", name),
		"name its absolute path, or copy it there: files=PATH")
}

// startable returns why the kernel would not start a program for this user.
func startable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return hint.New(fmt.Errorf("there is no program %s", path), "name a program that is there, with its absolute path")
	case err != nil:
		return hint.New(err, "name a program that this user can execute")
	case !info.Mode().IsRegular():
		return hint.New(fmt.Errorf("%s is no program but %s", path, kindOf(info)), "name an executable file")
	case info.Mode()&0o111 == 0:
		return hint.New(fmt.Errorf("%s is not executable", path), hint.Command("chmod", "+x", path))
	case unix.Access(path, unix.X_OK) != nil:
		return hint.New(fmt.Errorf("%s: this user cannot execute it, or its file system is mounted noexec", path), "copy it to where it can be executed")
	}
	return loadable(path)
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a pipe or socket"
}

// loadable returns why the kernel would not load an executable file: an interpreter that is not there, or a
// text without one.
func loadable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // executable, not readable: the kernel can read it
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, unix.PathMax))
	if err != nil {
		return hint.New(err, "name another program")
	}
	var interpreter string
	switch line, _, _ := bytes.Cut(head, []byte("\n")); {
	case bytes.HasPrefix(head, []byte("#!")):
		if words := strings.Fields(string(line[2:])); len(words) > 0 {
			interpreter = words[0]
		}
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		if interpreter = ofELF(f); interpreter == "" {
			return nil // linked statically, or of another machine
		}
	case len(head) > 0 && bytes.ContainsRune(line, 0):
		return nil // binfmt_misc may know it
	}
	if interpreter == "" {
		return hint.New(fmt.Errorf("%s is no program: it does not begin with #!INTERPRETER", path), "add a first line such as #!/bin/sh")
	}
	if _, err := os.Stat(interpreter); err != nil {
		return hint.New(fmt.Errorf("%s: its interpreter %s: %w", path, interpreter, err), "install the interpreter, or name another program")
	}
	return nil
}

// ofELF is the dynamic linker that a program names; "": none.
func ofELF(f *os.File) string {
	e, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	for _, p := range e.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > unix.PathMax {
			continue
		}
		name, err := io.ReadAll(p.Open())
		if err != nil {
			return ""
		}
		return strings.TrimRight(string(name), "\x00")
	}
	return ""
}
