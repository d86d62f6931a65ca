// Package conceal hands a program an argument that no list of processes shows:
// for programs that take a password from nowhere but their arguments, which
// everybody on the host can read. It knows what a fresh program's stack looks
// like, and nothing of programs or passwords.
package conceal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// word is the size of a pointer in bytes, on amd64 and arm64.
const word = 8

// most bounds arguments, variables and the bytes of each that are looked at.
const most = 1 << 16

// Argument lets a child go on in whose arguments the pointer to one that reads
// placeholder was turned to the value of a variable of its environment. The
// child was started by this very thread with SysProcAttr.Ptrace, nobody waited
// for it yet, and it does not go on when there is an error: kill it.
//
// The kernel shows the memory where the arguments were put, not where the
// pointers lead (proc(5), cmdline), and the environment to its own user only.
func Argument(pid int, placeholder, variable string) error {
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return fmt.Errorf("wait for the program to be loaded: %w", err)
	}
	if !status.Stopped() {
		return errors.New("the program ended before it began")
	}
	if err := redirect(pid, placeholder, variable); err != nil {
		return fmt.Errorf("hand over an argument: %w", err)
	}
	return unix.PtraceDetach(pid)
}

// redirect works on the stack of a program that did not execute anything yet:
// the number of arguments, pointers to them, a null, pointers to the variables,
// a null (System V ABI, process initialization).
func redirect(pid int, placeholder, variable string) error {
	top, err := stackStart(pid)
	if err != nil {
		return err
	}
	n, err := peek(pid, top)
	if err != nil || n > most {
		return errors.Join(err, errors.New("this is no program's stack"))
	}
	argument, err := find(pid, top+word, func(text string) bool { return text == placeholder })
	if err != nil {
		return err
	}
	value, err := find(pid, top+word*(uintptr(n)+2), func(text string) bool { return strings.HasPrefix(text, variable+"=") })
	if err != nil {
		return err
	}
	at, err := peek(pid, value)
	if err != nil {
		return err
	}
	pointer := binary.NativeEndian.AppendUint64(nil, at+uint64(len(variable))+1)
	_, err = unix.PtracePokeData(pid, argument, pointer)
	return err
}

// find is where the pointer to a text is, in a list of pointers that ends with
// a null.
func find(pid int, list uintptr, is func(string) bool) (uintptr, error) {
	for range most {
		at, err := peek(pid, list)
		if err != nil {
			return 0, err
		}
		if at == 0 {
			break
		}
		text, err := text(pid, uintptr(at))
		if err != nil {
			return 0, err
		}
		if is(text) {
			return list, nil
		}
		list += word
	}
	return 0, errors.New("it is not where it was put")
}

func peek(pid int, at uintptr) (uint64, error) {
	b := make([]byte, word)
	if _, err := unix.PtracePeekData(pid, at, b); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint64(b), nil
}

// text is a text that ends with a zero byte, or its beginning.
func text(pid int, at uintptr) (string, error) {
	var out []byte
	for b := make([]byte, word); len(out) < most; at += word {
		if _, err := unix.PtracePeekData(pid, at, b); err != nil {
			return "", err
		}
		end := bytes.IndexByte(b, 0)
		if end >= 0 {
			return string(append(out, b[:end]...)), nil
		}
		out = append(out, b...)
	}
	return string(out), nil
}

// stackStart is the field startstack of /proc/PID/stat, the 28th.
func stackStart(pid int) (uintptr, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// "pid (name) state ...": the name may hold anything.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 26 {
		return 0, errors.New("/proc/PID/stat is too short")
	}
	at, err := strconv.ParseUint(fields[25], 10, 64)
	if err != nil || at == 0 {
		return 0, errors.Join(err, errors.New("the kernel does not say where the stack begins"))
	}
	return uintptr(at), nil
}
