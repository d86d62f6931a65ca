package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
	"golang.org/x/mod/module"
)

// linked is a module that is linked into the binaries, with its licence.
type linked struct {
	path, version string
	licence       string  // identifier of SPDX; empty: not recognized
	texts         []named // its files about licences
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// modules are the modules in the binaries of all architectures, and Go's standard library.
func (r release) modules() ([]linked, error) {
	found := map[string]linked{}
	for _, a := range arches {
		info, err := buildinfo.ReadFile(r.binary(a))
		if err != nil {
			return nil, err
		}
		found["std"] = linked{path: "std", version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, d := range info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}
			found[d.Path] = linked{path: d.Path, version: d.Version}
		}
	}
	cache, root, err := directories()
	if err != nil {
		return nil, err
	}
	var all []linked
	for _, path := range sorted(found) {
		m := found[path]
		dir := root
		if path != "std" {
			if dir, err = moduleDir(cache, m); err != nil {
				return nil, err
			}
		}
		if err := m.read(dir); err != nil {
			return nil, fmt.Errorf("module %s: %w", path, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// directories are the cache of modules and the directory of Go.
func directories() (cache, root string, err error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		return "", "", fmt.Errorf("go env printed %q", out)
	}
	return lines[0], lines[1], nil
}

func moduleDir(cache string, m linked) (string, error) {
	path, err := module.EscapePath(m.path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.version)
	return filepath.Join(cache, filepath.FromSlash(path)+"@"+version), err
}

// legal matches the names of files about licences; Go's own PATENTS are with its LICENSE.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)

// least is the share of a file in percent that must be the text of a licence, so that it has that licence.
const least = 75

// read reads the files about licences in the module's directory.
func (m *linked) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, named{e.Name(), b})
		if c := licensecheck.Scan(b); len(c.Match) == 1 && c.Percent >= least && m.licence == "" {
			m.licence = c.Match[0].ID
		}
	}
	if len(m.texts) == 0 {
		return fmt.Errorf("no licence in %s", dir)
	}
	return nil
}

// licencesOf is one text with the licences of all modules: binary packages have to carry them.
func licencesOf(modules []linked) ([]byte, error) {
	var b bytes.Buffer
	for _, m := range modules {
		fmt.Fprintf(&b, "%s\n%s %s (%s)\n", strings.Repeat("=", 80), m.path, m.version, cmp.Or(m.licence, "see its text"))
		for _, x := range m.texts {
			fmt.Fprintf(&b, "\n%s:\n\n%s\n", x.name, bytes.TrimRight(x.data, "\n"))
		}
	}
	return b.Bytes(), nil
}
