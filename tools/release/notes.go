package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notes writes the section of the version in the changelog, or the one of what is not released.
func (r release) notes() error {
	b, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	for _, title := range []string{r.version, r.number(), "Unreleased"} {
		if text := section(string(b), title); text != "" {
			return r.create("notes.md", []byte("# tare "+r.version+"\n\n"+text+"\n"))
		}
	}
	return errors.New("CHANGELOG.md has neither a section " + r.version + " nor one Unreleased")
}

// section is the text below a heading of the second level that is title, or title and a date; "": there is none.
func section(changelog, title string) string {
	var lines []string
	in := false
	for _, line := range strings.Split(changelog, "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			words := strings.Fields(heading)
			in = len(words) > 0 && strings.Trim(words[0], "[]") == title
			continue
		}
		if in {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// sums writes the checksums of all files, as sha256sum -c reads them.
func (r release) sums() error {
	all, err := allIn(r.out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, f := range all {
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	return r.create("SHA256SUMS", []byte(lines.String()))
}
