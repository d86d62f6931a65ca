package imagebuild

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// planted is a small root file system with links of all kinds.
func planted(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"usr/bin/tool": "tool", "usr/lib/liba.so.1": "a", "etc/alone": "b", "usr/share/tool/data": "c"} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"lib": "usr/lib", "usr/lib/liba.so": "liba.so.1", "abs": "/usr/share/tool", "up": "usr/bin/../lib/liba.so",
		"loop1": "loop2", "loop2": "loop1", "dangling": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "usr/share/tool/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

// A path comes with the links on the way and their targets, all below the root.
func TestTreeFollowsLinks(t *testing.T) {
	root := planted(t)
	for path, want := range map[string][]string{
		"/usr/bin/tool": {"usr", "usr/bin", "usr/bin/tool"},
		"/lib/liba.so":  {"lib", "usr", "usr/lib", "usr/lib/liba.so", "usr/lib/liba.so.1"},
		"/abs":          {"abs", "usr", "usr/share", "usr/share/tool", "usr/share/tool/data"},
		"/up":           {"up", "usr", "usr/bin", "usr/lib", "usr/lib/liba.so", "usr/lib/liba.so.1"},
	} {
		tree := newTree()
		if err := tree.add(root, path, true); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(tree.entries))); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
}

func TestTreeRefuses(t *testing.T) {
	root := planted(t)
	for path, want := range map[string]error{
		"/loop1": syscall.ELOOP, "/dangling": fs.ErrNotExist, "/none": fs.ErrNotExist,
		"/etc/alone/below": syscall.ENOTDIR, "/usr/share/tool/fifo": errSpecial,
	} {
		if err := newTree().add(root, path, true); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestParseLibraries(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		fails      bool
	}{
		{"glibc", "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f2)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f3)\n",
			[]string{"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"}, false},
		{"musl", "\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f)\n",
			[]string{"/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-x86_64.so.1"}, false},
		{"missing", "\tlibfoo.so.9 => not found\n", nil, true},
		{"static", "\tstatically linked\n", nil, false},
		{"nothing", "", nil, false},
	} {
		got, err := parseLibraries("p", c.text)
		if (err != nil) != c.fails || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestOwner(t *testing.T) {
	for text, want := range map[string]string{
		"mariadb-server-core: /usr/sbin/mariadbd\n":                                               "mariadb-server-core",
		"diversion by dash from: /bin/sh\ndiversion by dash to: /bin/sh.distrib\ndash: /bin/sh\n": "dash",
		"libc6:amd64, libc6:i386: /usr/share/doc/libc6\n":                                         "libc6:amd64",
		"diversion by usrmerge from: /bin/x\n":                                                    "",
		"":                                                                                        "",
	} {
		if got := ownerOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAccounts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(file, []byte("root:secret:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nmysql:x:107:109::/nonexistent:/bin/false\nbroken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"root:x:0:0::/root:/bin/sh", "mysql:x:107:109::/nonexistent:/bin/false"}
	if d := cmp.Diff(want, accountsOf(file)); d != "" {
		t.Error(d)
	}
}
