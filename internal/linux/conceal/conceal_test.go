package conceal

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// start starts a program as Argument wants it.
func start(t *testing.T, env []string, path string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

// A program, and a script whose interpreter has other arguments before its own,
// find the value; the list of processes shows the placeholder.
func TestArgument(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := t.TempDir()
	// It reads a line when asked for its own arguments as others see them.
	script := filepath.Join(dir, "script")
	text := "#!/bin/sh\necho \"got $2 $3\"\ntr '\\0' ' ' </proc/$$/cmdline\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		args []string
	}{
		{script, []string{"--password", "hidden", "more"}},
		{"/bin/sh", []string{"-c", `echo "got $1 $2"; tr '\0' ' ' </proc/$$/cmdline`, "--password", "hidden", "more"}},
	} {
		secret := "s3cret-" + strings.Repeat("x", 23)
		cmd, out := start(t, []string{"A=1", "SECRET=" + secret, "PATH=/usr/bin:/bin"}, c.path, c.args...)
		if err := Argument(cmd.Process.Pid, "hidden", "SECRET"); err != nil {
			cmd.Process.Kill()
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		if first != "got "+secret+" more" {
			t.Errorf("%s: it got %q", c.path, first)
		}
		if strings.Contains(rest, secret) || !strings.Contains(rest, "hidden") {
			t.Errorf("%s: shown are %q", c.path, rest)
		}
	}
}

func TestArgumentIsNotThere(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, c := range map[string]struct{ argument, variable string }{
		"argument": {"missing", "SECRET"},
		"variable": {"hidden", "SECRE"},
	} {
		cmd, _ := start(t, []string{"SECRET=x"}, "/bin/sh", "-c", "exit 0", "hidden")
		if err := Argument(cmd.Process.Pid, c.argument, c.variable); err == nil {
			t.Errorf("%s: no error", name)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if _, err := os.Stat("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat"); err == nil {
			t.Errorf("%s: it lives", name)
		}
	}
}
