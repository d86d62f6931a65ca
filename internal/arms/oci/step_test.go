package oci

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

func TestUndoContainer(t *testing.T) {
	testneed.Root(t)
	for _, name := range []string{"runc", "crun"} {
		t.Run(name, func(t *testing.T) {
			runtime := testneed.Tool(t, name)
			dir, top := t.TempDir(), t.TempDir()
			root := filepath.Join(top, "tare-r1-arm", "runtime")
			group := "tare-r1-" + filepath.Base(filepath.Dir(top))
			bundle := makeBundle(t, top, group)
			if err := os.Mkdir(filepath.Dir(root), 0o700); err != nil {
				t.Fatal(err)
			}
			id := "tare-r1-arm"
			enable := notEnabled(t)
			// crun refuses a version 2 with controllers beside version 1.
			cmd := exec.Command("unshare", "--mount", "sh", "-c", `umount /sys/fs/cgroup/unified 2>&-; exec "$@"`, "sh")
			cmd.Args = append(cmd.Args, runtime, "--root", root, "run", "--detach", "--bundle", bundle, id)
			cmd.Stderr = os.Stderr
			testneed.Feature(t, name, cmd.Run())
			defer exec.Command(runtime, "--root", root, "delete", "--force", id).Run()
			// A runtime can leave its groups: the step before it takes those.
			plan := groupsNamed(t, group)
			if len(enable) > 0 {
				plan.Enable, plan.EnableAt = enable, "/sys/fs/cgroup"
			}
			journaltest.Write(t, dir, journaltest.Header(t, "r1"), steps.Group{Plan: plan}, ContainerStep{runtime, root, id},
				ContainerStep{runtime, root, "tare-r1-never"}, ContainerStep{"/nowhere/runc", root, "tare-r1-never"})
			journaltest.Undone(t, dir, "r1", steps.Kinds(journal.KindOf[ContainerStep]()))
			out, err := exec.Command(runtime, "--root", root, "list", "-q").CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "" {
				t.Errorf("left: %s %v", out, err)
			}
			if left := groupsNamed(t, group); len(left.Dirs) > 0 {
				t.Errorf("groups left: %v", left.Dirs)
			}
			if now := notEnabled(t); !slices.Equal(now, enable) {
				t.Errorf("not enabled are %v, were %v", now, enable)
			}
		})
	}
}

// groupsNamed are the directories of a group in all hierarchies, also in those that tare does not use.
func groupsNamed(t *testing.T, group string) cgroup.Plan {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", group))
	if err != nil {
		t.Fatal(err)
	}
	if dir := filepath.Join("/sys/fs/cgroup", group); !gone(dir) {
		dirs = append(dirs, dir) // version 2 only
	}
	return cgroup.Plan{Dirs: dirs}
}

// notEnabled are the controllers that a runtime enables in the root group; it does so only with version 2.
func notEnabled(t *testing.T) []string {
	t.Helper()
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Layout != cgroup.V2 {
		return nil
	}
	on, err := os.ReadFile(filepath.Join(tree.V2, "cgroup.subtree_control"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(tree.V2Controllers), func(c string) bool {
		return slices.Contains(strings.Fields(string(on)), c)
	})
}

// makeBundle makes the bundle of a container that sleeps, with the host's programs.
func makeBundle(t *testing.T, top, group string) string {
	t.Helper()
	for _, dir := range []string{"dev", "sys"} {
		if err := os.MkdirAll(filepath.Join(top, "root", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The host's programs are bound into the container's root.
	mounts := []specs.Mount{{Destination: "/proc", Type: "proc", Source: "proc"}}
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64"} {
		if !gone(dir) {
			mounts = append(mounts, specs.Mount{Destination: dir, Type: "bind", Source: dir, Options: []string{"rbind", "ro"}})
		}
	}
	spec := specs.Spec{
		Version: "1.0.2",
		Root:    &specs.Root{Path: "root"},
		Process: &specs.Process{Args: []string{"/bin/sleep", "1000"}, Cwd: "/", NoNewPrivileges: true},
		Mounts:  mounts,
		Linux: &specs.Linux{
			CgroupsPath: "/" + group,
			Namespaces:  []specs.LinuxNamespace{{Type: specs.PIDNamespace}, {Type: specs.MountNamespace}},
		},
	}
	b, err := json.Marshal(spec)
	if err == nil {
		err = os.WriteFile(filepath.Join(top, "config.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestCheckContainer(t *testing.T) {
	const runc, root, id = "/usr/sbin/runc", "/x/tare-r-c/runtime", "tare-r-c-1"
	journaltest.Checks(t, []journal.Step{
		ContainerStep{runc, "/var/tmp/tare-r/tare-r-container/runtime", "tare-r-container-1"}, ContainerStep{"/usr/bin/crun", root, "tare-r-c-12"},
	}, []journal.Step{
		ContainerStep{}, ContainerStep{"/bin/sh", root, id}, ContainerStep{runc, "", id}, ContainerStep{runc, "/run/runc", id},
		ContainerStep{runc, root, "web"}, ContainerStep{runc, root, "tare-r2-c-1"}, ContainerStep{runc, root, "tare-r-c/../../x"},
		ContainerStep{runc, "/x/tare-r-c/..", id}, ContainerStep{"runc", root, id}, ContainerStep{"/usr/sbin/runc-wrapper", root, id},
		ContainerStep{"/usr/sbin/runc/", root, id}, ContainerStep{"/x/../usr/sbin/runc", root, id},
	})
}

func TestUndoByAnothersRunc(t *testing.T) {
	root := filepath.Join(t.TempDir(), "tare-r1-arm", "runtime")
	if err := os.MkdirAll(filepath.Join(root, "tare-r1-arm-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	journaltest.Program(t, "runc", func(program string) journal.Step { return ContainerStep{program, root, "tare-r1-arm-1"} })
}
