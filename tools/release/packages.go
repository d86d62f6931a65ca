package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

const description = `Measures what a database or a disk loses in a container
 tare compares a load in a container, in a Kubernetes pod, on another volume or
 beside a batch job with the same load on the same host: throughput, latency and
 CPU time, with intervals that hold on a noisy machine.`

// packages writes the packages of Debian and RPM.
func (r release) packages(a arch, f contents) error {
	work, err := os.MkdirTemp("", "tare-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for packager, name := range map[string]string{
		"deb": fmt.Sprintf("tare_%s_%s.deb", r.number(), a.name),
		"rpm": fmt.Sprintf("tare-%s-1.%s.rpm", r.number(), a.rpm),
	} {
		content, err := r.packaged(a, f, packager, filepath.Join(work, packager))
		if err == nil {
			err = r.create(name, content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// packaged is the package of one kind. dir is a new directory for its files.
func (r release) packaged(a arch, f contents, packager, dir string) ([]byte, error) {
	c := content{at: r, dir: dir}
	c.source("/usr/bin/tare", 0o755, r.binary(a))
	c.link("/usr/bin/kubectl-tare", "tare")
	c.link("/usr/bin/kubectl_complete-tare", "tare")
	c.folder("/usr/share/doc/tare") // RPM removes only directories that it knows
	c.data("/usr/share/doc/tare/copyright", f.licence)
	c.data("/usr/share/doc/tare/LICENSES-OF-MODULES", f.licences)
	c.zipped("/usr/share/doc/tare/changelog.gz", f.changelog)
	c.folder("/usr/share/doc/tare/docs")
	for _, d := range f.docs {
		c.data("/usr/share/doc/tare/docs/"+d.name, d.data)
	}
	for _, m := range f.manuals {
		c.zipped("/usr/share/man/man1/"+m.name+".gz", m.data)
	}
	for _, x := range f.completions {
		at := completionAt(x.name, packager)
		if at == "" {
			continue
		}
		// A shell that is not installed has no directory there.
		for dir := path.Dir(at); packager == "rpm" && dir != "/usr/share"; dir = path.Dir(dir) {
			c.folder(dir)
		}
		c.data(at, x.data)
	}
	if c.err != nil {
		return nil, c.err
	}
	scripts := filepath.Join(r.root, "tools/release/package")
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "tare", Arch: a.name, Platform: "linux", Version: r.version, Release: "1", MTime: r.at,
		Section: "utils", Priority: "optional", Maintainer: "tare <" + r.mail() + ">", Vendor: "tare",
		Homepage: r.home, License: "Apache-2.0", Description: description,
		Overridables: nfpm.Overridables{
			Contents: c.all,
			Scripts:  nfpm.Scripts{PreRemove: filepath.Join(scripts, "preremove"), PostRemove: filepath.Join(scripts, "postremove")},
			Suggests: []string{"runc", "fio", "sysbench", "mariadb-server", "postgresql", "redis-server"},
			RPM:      nfpm.RPM{Summary: "Measures what a database or a disk loses in a container", BuildHost: "tare"},
		},
	})
	if packager == "deb" {
		info.Release = "" // the version in the name of the file has none
	} else {
		info.Suggests = nil // other names
	}
	maker, err := nfpm.Get(packager)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = maker.Package(info, &b)
	return b.Bytes(), err
}

// mail is an address at the host of the project's home, which nobody reads: packages must name one.
func (r release) mail() string {
	u, err := url.Parse(r.home)
	if err != nil || u.Hostname() == "" {
		return "noreply@localhost"
	}
	return "noreply@" + u.Hostname()
}

// content are the files of a package.
type content struct {
	at  release
	dir string // of files that are made
	all files.Contents
	err error
}

func (c *content) add(x *files.Content, mode os.FileMode) {
	x.FileInfo = &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: c.at.at}
	c.all = append(c.all, x)
}

func (c *content) source(path string, mode os.FileMode, source string) {
	c.add(&files.Content{Source: source, Destination: path}, mode)
}

func (c *content) folder(path string) {
	c.add(&files.Content{Destination: path, Type: files.TypeDir}, 0o755)
}

func (c *content) link(path, target string) {
	c.add(&files.Content{Source: target, Destination: path, Type: files.TypeSymlink}, 0o777)
}

// data adds a file with this content.
func (c *content) data(path string, data []byte) {
	file := filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		c.err = err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		c.err = err
	}
	c.source(path, 0o644, file)
}

// zipped adds a compressed file.
func (c *content) zipped(path string, data []byte) {
	data, err := compress(data)
	if err != nil {
		c.err = err
	}
	c.data(path, data)
}
