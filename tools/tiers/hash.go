package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// common are files and folders in the hash of every tier: they decide how tests are compiled, run and
// chosen.
var common = []string{"go.mod", "go.sum", "Makefile", ".ci", "tools/deps.sh", "tools/tiers", "tools/go.mod", "tools/go.sum"}

// passedFile has a line "TIER HASH" for each tier that passed. It is part of no hash.
const passedFile = ".ci/passed"

// A Tree has the files of a commit: by path, "MODE blob OBJECT".
type Tree map[string]string

// readTree lists the files of HEAD.
func readTree(root string) (Tree, error) {
	out, err := git(root, "ls-tree", "-r", "-z", "HEAD")
	if err != nil {
		return nil, err
	}
	tree := Tree{}
	for _, entry := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		what, path, ok := strings.Cut(entry, "\t")
		if !ok {
			return nil, fmt.Errorf("git ls-tree: unexpected line %q", entry)
		}
		tree[path] = what
	}
	return tree, nil
}

// hash is a hash of the files on which a tier depends. packages are the packages whose tests the tier
// runs: tests and testdata count only there.
func (f File) hash(t Tier, tree Tree, packages []string) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if f.counts(t, path, packages) {
			fmt.Fprintf(h, "%s %s\n", tree[path], path)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:32]
}

// counts reports whether a file is in the hash of a tier.
func (f File) counts(t Tier, path string, packages []string) bool {
	switch {
	case path == passedFile:
		return false
	case within(path, common):
		return !onlyTests(path)
	case !within(path, f.on(t)) || within(path, f.except(t)):
		return false
	}
	return !onlyTests(path) || slices.Contains(packages, packageOf(path))
}

// onlyTests reports whether only the tests of its own package use a file.
func onlyTests(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.Contains("/"+path, "/testdata/")
}

// packageOf returns the folder of the package that a file belongs to.
func packageOf(path string) string {
	if before, _, ok := strings.Cut(path, "/testdata/"); ok {
		return before
	}
	return filepath.Dir(path)
}

// packages runs the command that names the packages whose tests a tier runs.
func packages(root string, t Tier) ([]string, error) {
	cmd := exec.Command("sh", "-c", t.Packages)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tier %s: packages: %w", t.Name, err)
	}
	names := strings.Fields(string(out))
	if len(names) == 0 {
		return nil, fmt.Errorf("tier %s: packages: none", t.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// hashes returns the hash of each tier for HEAD.
func (f File) hashes(root string) (map[string]string, error) {
	tree, err := readTree(root)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, t := range f.Tiers {
		if t.Always {
			continue
		}
		names, err := packages(root, t)
		if err != nil {
			return nil, err
		}
		all[t.Name] = f.hash(t, tree, names)
	}
	return all, nil
}

// clean reports whether no file but .ci/passed differs from HEAD.
func clean(root string) (bool, error) {
	out, err := git(root, "status", "--porcelain", "--untracked-files=all", "--", ".", ":!"+passedFile)
	return strings.TrimSpace(out) == "", err
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}

// readPassed reads the hash with which each tier passed last. It ignores lines that do not have two
// words.
func readPassed(root string) (map[string]string, error) {
	file, err := os.Open(filepath.Join(root, passedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	passed := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 2 {
			passed[words[0]] = words[1]
		}
	}
	return passed, lines.Err()
}

// writePassed writes .ci/passed without tiers that are no longer in .ci/tiers.
func (f File) writePassed(root string, passed map[string]string) error {
	var lines strings.Builder
	for _, t := range f.Tiers {
		if hash, ok := passed[t.Name]; ok && !t.Always {
			fmt.Fprintf(&lines, "%s %s\n", t.Name, hash)
		}
	}
	path := filepath.Join(root, passedFile)
	if err := os.WriteFile(path+".new", []byte(lines.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
