package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/linux/child"
)

// host adds programs of this host to a tree.
type host struct {
	tree *tree
	seen []string // files whose libraries were added
}

// add adds a program by its name in PATH, or a path. A program of a Debian package comes with all
// files of the package, because nothing else lists what it reads at run time (messages, scripts).
func (h *host) add(ctx context.Context, what string) error {
	path, err := locate(what)
	if err != nil {
		return err
	}
	before := h.tree.files()
	if err := h.tree.add("/", path, true); err != nil {
		return err
	}
	if !strings.Contains(what, "/") {
		if err := h.addPackage(ctx, path); err != nil {
			return err
		}
	}
	for name, file := range h.tree.files() {
		if _, ok := before[name]; ok {
			continue
		}
		if err := h.addLibraries(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// locate is the absolute path of a path or of a program in PATH.
func locate(what string) (string, error) {
	if strings.Contains(what, "/") {
		return filepath.Abs(what)
	}
	path, err := child.Find(what)
	if err != nil {
		return "", fmt.Errorf("no program in PATH: %w", exec.ErrNotFound)
	}
	return filepath.Abs(path)
}

// addSelf adds the test's own binary at Exe.
func (h *host) addSelf(ctx context.Context, self string) error {
	self, err := filepath.EvalSymlinks(self)
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	st, err := os.Stat(self)
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	h.tree.program(exe, st.Mode().Perm()|0o555, self)
	return h.addLibraries(ctx, self)
}

// addLibraries adds the libraries of a file, if it is a program or a library.
func (h *host) addLibraries(ctx context.Context, file string) error {
	if slices.Contains(h.seen, file) {
		return nil
	}
	h.seen = append(h.seen, file)
	o, ok, err := readObject(file)
	if err != nil || !ok || !o.needs {
		return err
	}
	if o.loader == "" {
		if o.loader, err = hostLoader(); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	found, err := libraries(ctx, o.loader, file)
	if err != nil {
		return err
	}
	for _, lib := range append(found, o.loader) {
		if err := h.tree.add("/", lib, false); err != nil {
			return err
		}
	}
	return nil
}

// hostLoader is the dynamic loader of this host's programs.
func hostLoader() (string, error) {
	o, ok, err := readObject("/bin/sh")
	if err == nil && (!ok || o.loader == "") {
		err = errors.New("/bin/sh names no loader of libraries")
	}
	return o.loader, err
}

// addPackage adds the files of the Debian package that owns a path, without documentation. It does
// nothing if no package owns it.
func (h *host) addPackage(ctx context.Context, path string) error {
	pkg := packageOf(ctx, path)
	if pkg == "" {
		return nil
	}
	out, err := exec.CommandContext(ctx, "dpkg-query", "--listfiles", pkg).Output()
	if err != nil {
		return fmt.Errorf("list the files of package %s: %w", pkg, err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		if !strings.HasPrefix(file, "/") || slices.ContainsFunc(documentation, func(dir string) bool { return strings.HasPrefix(file, dir) }) {
			continue
		}
		err := h.tree.add("/", file, false)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the administrator may have removed it
			return err
		}
	}
	return nil
}

var documentation = []string{
	"/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/lintian/", "/usr/share/bug/",
}

// packageOf is the package that owns a path. It asks for the path, for the target of its links, and for
// both with and without /usr, because dpkg may know a file under /bin by its old path.
func packageOf(ctx context.Context, path string) string {
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		names = append(names, real)
	}
	for _, n := range slices.Clone(names) {
		if rest, ok := strings.CutPrefix(n, "/usr"); ok {
			names = append(names, rest)
		} else {
			names = append(names, "/usr"+n)
		}
	}
	for _, n := range names {
		out, err := exec.CommandContext(ctx, "dpkg-query", "--search", n).Output()
		if err != nil {
			continue
		}
		if first := ownerOf(string(out)); first != "" {
			return first
		}
	}
	return ""
}

// ownerOf is the first package in the output of dpkg-query --search.
func ownerOf(text string) string {
	for line := range strings.Lines(text) {
		owners, _, found := strings.Cut(line, ": ")
		if !found || strings.HasPrefix(owners, "diversion ") { // another package diverts the file
			continue
		}
		first, _, _ := strings.Cut(owners, ", ")
		return first
	}
	return ""
}

// firstPerson is Debian's first user id of people.
const firstPerson = 1000

// accountsOf are the lines of system users or groups. A server that refuses to run as root looks its
// account up.
func accountsOf(file string) []string {
	b, _ := os.ReadFile(file)
	var all []string
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 {
			continue
		}
		if id, err := strconv.Atoi(f[2]); err == nil && id < firstPerson {
			f[1] = "x"
			all = append(all, strings.Join(f, ":"))
		}
	}
	return all
}

// base adds the accounts and directories of every root file system.
func (t *tree) base(users, groups []string) {
	id := strconv.Itoa(userID)
	users = append(users, "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin", "tare:x:"+id+":"+id+":tare:/:/usr/sbin/nologin")
	groups = append(groups, "nogroup:x:65534:", "tare:x:"+id+":")
	t.write("etc/passwd", strings.Join(users, "\n")+"\n", 0o644)
	t.write("etc/group", strings.Join(groups, "\n")+"\n", 0o644)
	t.write("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", 0o644)
	for _, dir := range []string{"dev", "proc", "sys", "run", "root", "etc"} {
		t.mkdir(dir, 0o755)
	}
	for _, dir := range []string{"tmp", "var/tmp"} {
		t.mkdir(dir, 0o777|fs.ModeSticky)
	}
}
