package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// TestMain makes the test binary behave as tare: in scripts by its name, and inside the arms by
// tare's hidden commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__cli" { // the command line, for tests without a script
		os.Exit(tare(os.Args[2:]))
	}
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		os.Exit(tare(os.Args[1:]))
	}
	// The scripts wait for servers and for the ends of budgets more than they compute.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testscript.Main(cached{m}, map[string]func(){
		"tare":                  main,
		"kubectl-tare":          main,
		"kubectl_complete-tare": main,
		"ordinary":              ordinary,
	})
}

// cached removes the data sets that tests share at the end.
type cached struct{ *testing.M }

func (c cached) Run() int {
	code := c.M.Run()
	if dir, err := cache(); err == nil {
		os.RemoveAll(dir)
	}
	return code
}

// cache is the directory of the data sets that tests share.
var cache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "tare-cache") })

// ordinary runs its arguments as a user who is not root.
func ordinary() {
	const nobody = 65534
	fail := func(err error) {
		if err != nil {
			os.Stderr.WriteString("ordinary: " + err.Error() + "\n")
			os.Exit(125)
		}
	}
	if len(os.Args) < 2 {
		fail(os.ErrInvalid)
	}
	path, err := exec.LookPath(os.Args[1])
	fail(err)
	fail(syscall.Setgroups([]int{nobody}))
	fail(syscall.Setgid(nobody))
	fail(syscall.Setuid(nobody))
	home := os.Getenv("ORDINARY_HOME")
	fail(os.Setenv("HOME", home))
	fail(os.Setenv("XDG_STATE_HOME", filepath.Join(home, "state")))
	fail(os.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache")))
	fail(os.Setenv(hostlock.DirEnv, filepath.Join(home, "run")))
	fail(syscall.Exec(path, os.Args[1:], os.Environ()))
}

// TestScripts runs every command as root, or as the user who runs the tests.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts(t, "testdata/script")
}

// TestRunScripts runs the scripts that measure; they need what runs need.
func TestRunScripts(t *testing.T) {
	t.Parallel()
	testneed.Root(t)
	scripts(t, "testdata/run")
}

func scripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup:               setup,
		Cmds:                commands(),
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// setup gives a script a state directory of its own, and an ordinary user a home that he can reach.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "nobody")
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	env.Setenv(hostlock.DirEnv, filepath.Join(env.WorkDir, "run"))
	env.Setenv("ORDINARY_HOME", home)
	env.Setenv("TERM", "xterm-256color")
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	// A script that fails half-way leaves nothing on the host either.
	env.Defer(func() { cleanUp(env.WorkDir, home) })
	if os.Geteuid() != 0 {
		return nil
	}
	// These directories were made for their owner alone.
	bin := filepath.SplitList(env.Getenv("PATH"))[0]
	for _, dir := range []string{env.WorkDir, filepath.Dir(env.WorkDir), bin, filepath.Dir(bin)} {
		if filepath.Clean(dir) == filepath.Clean(os.TempDir()) {
			continue
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return os.Chown(home, 65534, 65534)
}

// cleanUp runs tare cleanup on the journals of a script.
func cleanUp(states ...string) {
	for _, dir := range states {
		cmd := exec.Command("/proc/self/exe", "__cli", "cleanup")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		_ = cmd.Run() // what it cannot do shows in the next run of doctor
	}
}
