package environmenttest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Command is the first argument of all processes of the suite. Behind it are a token that identifies
// the run, a mode, and the arguments of the mode. Descriptor 3 is a words, 4 a file of the data set
// called table.
const Command = "__conform"

// load is a process of the suite. args are the arguments behind Command.
func load(args []string) int {
	if len(args) < 2 {
		return fail(fmt.Errorf("arguments %q: want a token and what to do", args))
	}
	w, err := openWords(os.NewFile(3, "words"))
	if err != nil {
		return fail(fmt.Errorf("map descriptor 3: %w", err))
	}
	do, ok := modes[args[1]]
	if !ok {
		do, ok = effectModes[args[1]]
	}
	if !ok {
		return fail(fmt.Errorf("do not know %q", args[1]))
	}
	return do(w, args[0], args[2:])
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 120
}

var modes = map[string]func(w *words, token string, args []string) int{
	"exit":   func(_ *words, _ string, args []string) int { n, _ := strconv.Atoi(args[0]); return n },
	"count":  count,
	"deaf":   beDeaf,
	"fault":  beFaulty,
	"grab":   grab,
	"fork":   fork,
	"report": tellAll,
	"print":  printBoth,
	"change": change,
	"serve":  serve,
	"dial":   dial,
}

// count counts until it is killed.
func count(w *words, _ string, _ []string) int {
	w.setReady()
	for {
		w.tick()
		time.Sleep(100 * time.Microsecond)
	}
}

// beDeaf ignores all signals that can be ignored.
func beDeaf(w *words, _ string, _ []string) int {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	w.setReady()
	for {
		time.Sleep(time.Hour)
	}
}

// beFaulty ends by a segmentation fault. A signal that it sends to itself would not do: the first
// process of a pid namespace ignores those.
func beFaulty(*words, string, []string) int {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	var byDefault [4]uint64 // struct sigaction with SIG_DFL
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGSEGV), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	closed, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fail(err)
	}
	closed[0] = 1
	return 121
}

// grab allocates memory until it is killed, at most 1 GiB.
func grab(w *words, _ string, _ []string) int {
	w.setReady()
	var all [][]byte
	for len(all) < 1024 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	return len(all[0]) % 2
}

// fork starts a process that counts, in a session of its own, and ends.
func fork(w *words, token string, _ []string) int {
	cmd := exec.Command("/proc/self/exe", Command, token, "count")
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "words")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	for !w.isReady() {
		time.Sleep(time.Millisecond)
	}
	return 0
}

// report has the arguments, binary and data of a process.
type report struct {
	Args []string
	Exe  string // SHA-256 of the binary
	Data []entry
	// Table is the content of descriptor 4.
	Table string
}

// tellAll prints a report. Its argument is the data directory.
func tellAll(_ *words, _ string, args []string) int {
	r := report{Args: os.Args[1:]}
	var err error
	if r.Exe, err = hashFile("/proc/self/exe"); err != nil {
		return fail(err)
	}
	if r.Data, err = list(args[0]); err != nil {
		return fail(err)
	}
	b, err := io.ReadAll(os.NewFile(4, "table"))
	if err != nil {
		return fail(err)
	}
	r.Table = string(b)
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return fail(err)
	}
	return 0
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func printBoth(*words, string, []string) int {
	fmt.Fprintln(os.Stdout, "to standard output")
	fmt.Fprintln(os.Stderr, "to standard error")
	return 0
}

// change writes, makes and removes a file of the data set.
func change(_ *words, _ string, args []string) int {
	in := func(name string) string { return filepath.Join(args[0], name) }
	for _, err := range []error{
		os.WriteFile(in("table"), []byte("changed"), 0o600),
		os.WriteFile(in("new"), []byte("new"), 0o600),
		os.Remove(in("dir/old")),
	} {
		if err != nil {
			return fail(err)
		}
	}
	return 0
}

// serve sends each byte back.
func serve(w *words, _ string, args []string) int {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return fail(err)
	}
	w.setReady()
	for {
		c, err := l.Accept()
		if err != nil {
			return fail(err)
		}
		go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
	}
}

// dial asks a server once and checks its answer.
func dial(_ *words, _ string, args []string) int {
	c, err := net.DialTimeout("tcp", args[0], 10*time.Second)
	if err != nil {
		return fail(err)
	}
	defer c.Close()
	b := []byte("?")
	if _, err := c.Write(b); err != nil {
		return fail(err)
	}
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "?" {
		return fail(fmt.Errorf("asked ?, was told %q: %w", b, err))
	}
	return 0
}
