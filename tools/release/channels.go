package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed krew.yaml.tmpl
var krewText string

//go:embed formula.rb.tmpl
var formulaText string

// channel is what the templates of krew and Homebrew print.
type channel struct {
	Version, Number, Home string
	Archives              []channelArchive
}

type channelArchive struct{ Arch, URL, Sum, Top string }

// channel describes the archives, which are there.
func (r release) channel() (c channel, err error) {
	c = channel{Version: r.version, Number: r.number(), Home: r.home}
	for _, a := range arches {
		file := r.archiveName(a) + ".tar.gz"
		content, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			return c, err
		}
		c.Archives = append(c.Archives, channelArchive{a.name, r.download(file), fmt.Sprintf("%x", sha256.Sum256(content)), r.archiveName(a)})
	}
	return c, nil
}

// krew writes the manifest of kubectl's plugin manager; formula that of Homebrew.
func (r release) krew() error    { return r.fill("tare.krew.yaml", krewText) }
func (r release) formula() error { return r.fill("tare.rb", formulaText) }

func (r release) fill(name, text string) error {
	c, err := r.channel()
	if err != nil {
		return err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, c); err != nil {
		return err
	}
	return r.create(name, b.Bytes())
}
