package main

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// contents are what archives and packages have beside the binary.
type contents struct {
	licence, readme, changelog []byte
	licences                   []byte // of the modules in the binary
	manuals                    []named
	completions                []named
	docs                       []named // pages that messages of tare name
}

// named is a file with its name.
type named struct {
	name string
	data []byte
}

func (r release) files(licences []byte) (f contents, err error) {
	f.licences = licences
	for name, to := range map[string]*[]byte{"LICENSE": &f.licence, "README.md": &f.readme, "CHANGELOG.md": &f.changelog} {
		if *to, err = os.ReadFile(filepath.Join(r.root, name)); err != nil {
			return f, err
		}
	}
	if f.manuals, err = allIn(filepath.Join(r.work, "man")); err != nil {
		return f, err
	}
	if f.completions, err = allIn(filepath.Join(r.work, "completions")); err != nil {
		return f, err
	}
	pages, err := filepath.Glob(filepath.Join(r.root, "docs", "*.md"))
	for _, p := range pages {
		b, rerr := os.ReadFile(p)
		err = errors.Join(err, rerr)
		f.docs = append(f.docs, named{filepath.Base(p), b})
	}
	return f, err
}

// allIn reads the files in a directory, sorted by name.
func allIn(dir string) (all []named, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, named{e.Name(), b})
	}
	return all, nil
}

// completionAt is the path at which a distribution's shell looks for a completion; the name of its file is tare
// with the shell as extension.
func completionAt(file, packager string) string {
	shell := strings.TrimPrefix(path.Ext(file), ".")
	switch {
	case shell == "bash":
		return "/usr/share/bash-completion/completions/tare"
	case shell == "fish":
		return "/usr/share/fish/vendor_completions.d/tare.fish"
	case shell == "zsh" && packager == "deb":
		return "/usr/share/zsh/vendor-completions/_tare"
	case shell == "zsh":
		return "/usr/share/zsh/site-functions/_tare"
	}
	return ""
}
