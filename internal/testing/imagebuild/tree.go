package imagebuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// tree is a root file system: entries by path, without a leading slash. root owns all of them.
type tree struct{ entries map[string]entry }

// entry is a directory, a link or a regular file.
type entry struct {
	mode    fs.FileMode
	link    string
	source  string // a file of this host; empty: content
	content []byte
}

func newTree() *tree { return &tree{entries: map[string]entry{}} }

// longestChain is how many links a path may follow, as in the kernel.
const longestChain = 40

// errSpecial means that a path is not a directory, link or regular file.
var errSpecial = errors.New("neither a file nor a directory")

// add adds a path below root, with the directories and links on the way and the targets of links. With
// deep it adds the whole content of a directory.
func (t *tree) add(root, path string, deep bool) error {
	at, rest := "", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = strings.TrimPrefix(filepath.Dir("/"+at), "/")
			continue
		}
		next := filepath.Join(at, name)
		st, err := t.put(root, next)
		switch {
		case err != nil:
			return err
		case st.Mode()&fs.ModeSymlink != 0:
			if links++; links > longestChain {
				return &os.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
			}
			link := t.entries[next].link
			if filepath.IsAbs(link) {
				at = ""
			}
			rest = append(strings.Split(link, "/"), rest...)
		case st.IsDir():
			at = next
		case len(rest) > 0:
			return &os.PathError{Op: "enter", Path: filepath.Join(root, next), Err: syscall.ENOTDIR}
		default:
			return nil
		}
	}
	if deep {
		return t.below(root, at)
	}
	return nil
}

// below adds the content of a directory. It does not follow links and skips sockets and devices.
func (t *tree) below(root, dir string) error {
	top := filepath.Join(root, dir)
	return filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		_, err = t.put(root, strings.TrimPrefix(strings.TrimPrefix(path, root), "/"))
		if errors.Is(err, errSpecial) {
			return nil
		}
		return err
	})
}

// put adds one path.
func (t *tree) put(root, path string) (fs.FileInfo, error) {
	full := filepath.Join(root, path)
	st, err := os.Lstat(full)
	if err != nil {
		return nil, err
	}
	e := entry{mode: st.Mode() & (fs.ModeType | fs.ModePerm | fs.ModeSticky)}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		if e.link, err = os.Readlink(full); err != nil {
			return nil, err
		}
	case st.Mode().IsRegular():
		e.source = full
	case !st.IsDir():
		return nil, fmt.Errorf("%s: %w", full, errSpecial)
	}
	t.entries[path] = e
	return st, nil
}

// write adds a file with this content.
func (t *tree) write(path, content string, mode fs.FileMode) {
	t.mkdir(filepath.Dir(path), 0o755)
	t.entries[path] = entry{mode: mode, content: []byte(content)}
}

// program adds a file of this host at another, absolute path.
func (t *tree) program(path string, mode fs.FileMode, source string) {
	path = strings.TrimPrefix(path, "/")
	t.mkdir(filepath.Dir(path), 0o755)
	t.entries[path] = entry{mode: mode, source: source}
}

// mkdir adds a directory and those above it, unless they exist.
func (t *tree) mkdir(path string, mode fs.FileMode) {
	if path == "." {
		return
	}
	if _, ok := t.entries[path]; ok {
		return
	}
	t.mkdir(filepath.Dir(path), 0o755)
	t.entries[path] = entry{mode: fs.ModeDir | mode}
}

// files are the paths on this host of the regular files, by path in the tree.
func (t *tree) files() map[string]string {
	all := map[string]string{}
	for path, e := range t.entries {
		if e.source != "" {
			all[path] = e.source
		}
	}
	return all
}
