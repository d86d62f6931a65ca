// Package image builds container images without a registry: tare's own binary
// with programs of this host and all that they load, or with packages of
// Debian's, as one layer in an archive that every engine reads. The same files
// make the same image, to the digest. The package knows nothing of arms.
package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tarelab/tare/internal/hint"
)

const (
	// DefaultTag names no registry, so that no engine looks for one.
	DefaultTag = "localhost/tare:latest"
	// Exe is tare's own binary in the image.
	Exe = "/usr/local/bin/tare"
	// UserID is the user and the group of the image, one without any right:
	// PodSecurity's "restricted" admits it.
	UserID = 65532
	// ContentsLabel says what the image was made of.
	ContentsLabel = "org.tarelab.tare.contents"

	pathVariable = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// Options say what to build.
type Options struct {
	Out  string // the archive to write
	Tag  string // empty: DefaultTag
	Self string // this binary
	// Work is an empty directory on the file system of Out, for what is in the
	// making; the caller removes it.
	Work string
	// Programs are names in PATH, or paths of programs, files and directories of
	// this host.
	Programs []string
	// Packages are Debian's, of Suite (empty: this host's) from Mirror (empty:
	// this host's). Of packages and programs an image has one: their libraries may differ.
	Packages      []string
	Suite, Mirror string
	// Log is what the packages' installation prints; nil: nobody hears it.
	Log io.Writer
}

// Info is what an archive holds.
type Info struct {
	File, Tag string
	// ID is the digest of the image's configuration, by which engines name it.
	ID       string
	OS, Arch string
	Contents string // ContentsLabel
	Bytes    int64  // of the archive
}

// ErrName means that an image cannot have that name.
var ErrName = errors.New("name the image")

// Build writes an image.
func Build(ctx context.Context, o Options) (Info, error) {
	if o.Tag == "" {
		o.Tag = DefaultTag
	}
	tag, err := name.NewTag(o.Tag)
	if err != nil {
		return Info{}, hint.New(fmt.Errorf("%w: %w", ErrName, err), "a name such as "+DefaultTag)
	}
	tree, contents, err := fill(ctx, o)
	if err != nil {
		return Info{}, err
	}
	l, err := tree.layer(ctx, filepath.Join(o.Work, "layer.tar"))
	if err != nil {
		return Info{}, err
	}
	img, err := assemble(l, v1.Config{
		Entrypoint: []string{Exe}, Env: []string{pathVariable}, WorkingDir: "/",
		User:   fmt.Sprintf("%d:%d", UserID, UserID),
		Labels: map[string]string{"org.opencontainers.image.title": "tare", ContentsLabel: contents},
	}, v1.History{CreatedBy: "tare image build", Comment: contents})
	if err != nil {
		return Info{}, fmt.Errorf("build the image: %w", err)
	}
	// What was there under that name stays until all is written.
	made := filepath.Join(o.Work, "image.tar")
	if err := tarball.WriteToFile(made, tag, img); err != nil {
		return Info{}, fmt.Errorf("write the image: %w", err)
	}
	if err := os.Rename(made, o.Out); err != nil {
		return Info{}, fmt.Errorf("write the image: %w", err)
	}
	return Open(o.Out)
}

// fill makes the tree of the image and says what it is made of.
func fill(ctx context.Context, o Options) (*tree, string, error) {
	if len(o.Packages) > 0 {
		return install(ctx, o, filepath.Join(o.Work, "root"))
	}
	t := newTree()
	h := host{tree: t}
	for _, p := range o.Programs {
		if err := h.add(ctx, p); err != nil {
			return nil, "", fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := h.addSelf(ctx, o.Self); err != nil {
		return nil, "", err
	}
	t.base(accountsOf("/etc/passwd"), accountsOf("/etc/group"))
	contents := "host"
	if len(o.Programs) > 0 {
		contents += ": " + strings.Join(o.Programs, " ")
	}
	return t, contents, nil
}

// assemble makes an image of one layer, for this architecture.
func assemble(l v1.Layer, c v1.Config, made v1.History) (v1.Image, error) {
	config, err := empty.Image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created, config.Config = "linux", runtime.GOARCH, v1.Time{Time: epoch}, c
	img, err := mutate.ConfigFile(empty.Image, config)
	if err != nil {
		return nil, err
	}
	made.Created = config.Created
	return mutate.Append(img, mutate.Addendum{Layer: l, History: made})
}

// epoch is the time of every file: a time of its own would make each image
// another one.
var epoch = time.Unix(0, 0).UTC()

// Open looks into an archive.
func Open(file string) (Info, error) {
	i := Info{File: file}
	st, err := os.Stat(file)
	if err != nil {
		return i, hint.New(fmt.Errorf("open the image: %w", err), "tare image build makes one")
	}
	i.Bytes = st.Size()
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err == nil && len(manifest) != 1 {
		err = fmt.Errorf("%d images in it, want one", len(manifest))
	}
	if err != nil {
		return i, hint.New(fmt.Errorf("%s is no image archive: %w", file, err), "tare image build and docker save write such archives")
	}
	if tags := manifest[0].RepoTags; len(tags) > 0 {
		i.Tag = tags[0]
	}
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return i, fmt.Errorf("read the image %s: %w", file, err)
	}
	id, err := img.ConfigName()
	if err != nil {
		return i, fmt.Errorf("read the image %s: %w", file, err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return i, fmt.Errorf("read the image %s: %w", file, err)
	}
	i.ID, i.OS, i.Arch, i.Contents = id.String(), config.OS, config.Architecture, config.Config.Labels[ContentsLabel]
	return i, nil
}
