package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

type object = map[string]any

// imageName is the name of the image, with its tag: in the registry of the project's home.
func (r release) imageName() (string, error) {
	u, err := url.Parse(r.home)
	if err != nil {
		return "", err
	}
	host := u.Host
	switch host {
	case "github.com":
		host = "ghcr.io"
	case "":
		host = "localhost" // the home is a directory
	}
	return strings.ToLower(host+u.Path) + ":" + r.number(), nil
}

// image writes the image of an architecture, as an archive in which skopeo and containerd find the image layout of
// OCI, and older Docker and Podman the manifest.json of docker save.
func (r release) image(a arch, licences []byte) error {
	name, err := r.imageName()
	if err != nil {
		return err
	}
	unpacked, err := r.layer(a, licences)
	if err != nil {
		return err
	}
	layer, err := compress(unpacked)
	if err != nil {
		return err
	}
	t := newTree(r.at)
	blob := func(kind string, content []byte) object {
		digest := fmt.Sprintf("%x", sha256.Sum256(content))
		t.file("blobs/sha256/"+digest, 0o644, content)
		return object{"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(content)}
	}
	config, err := json.Marshal(r.imageConfig(a, unpacked))
	if err != nil {
		return err
	}
	configAt, layerAt := blob("config.v1+json", config), blob("layer.v1.tar+gzip", layer)
	manifest, err := json.Marshal(object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": configAt, "layers": []object{layerAt},
	})
	if err != nil {
		return err
	}
	manifestAt := blob("manifest.v1+json", manifest)
	manifestAt["platform"] = object{"os": "linux", "architecture": a.name}
	manifestAt["annotations"] = object{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
	path := func(at object) string { return strings.Replace("blobs/"+at["digest"].(string), ":", "/", 1) }
	for file, content := range map[string]any{
		"oci-layout":    object{"imageLayoutVersion": "1.0.0"},
		"index.json":    object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []object{manifestAt}},
		"manifest.json": []object{{"Config": path(configAt), "RepoTags": []string{name}, "Layers": []string{path(layerAt)}}},
	} {
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		t.file(file, 0o644, text)
	}
	t.dir("blobs/")
	t.dir("blobs/sha256/")
	content, err := t.bytes()
	if err != nil {
		return err
	}
	return r.create(fmt.Sprintf("tare_%s_image_%s.tar", r.number(), a.name), content)
}

// layer is the root of the image: tare, its licences, and what a program without libraries expects.
func (r release) layer(a arch, licences []byte) ([]byte, error) {
	binary, err := os.ReadFile(r.binary(a))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(r.root + "/LICENSE")
	if err != nil {
		return nil, err
	}
	t := newTree(r.at)
	for _, dir := range []string{"etc/", "root/", "usr/", "usr/bin/", "usr/share/", "usr/share/doc/", "usr/share/doc/tare/", "var/"} {
		t.dir(dir)
	}
	for _, dir := range []string{"tmp/", "var/tmp/"} {
		t.add(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o1777}, nil)
	}
	t.file("etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"))
	t.file("etc/group", 0o644, []byte("root:x:0:\nnogroup:x:65534:\n"))
	t.file("usr/bin/tare", 0o755, binary)
	t.link("usr/bin/kubectl-tare", "tare")
	t.file("usr/share/doc/tare/copyright", 0o644, licence)
	t.file("usr/share/doc/tare/LICENSES-OF-MODULES", 0o644, licences)
	return t.bytes()
}

func (r release) imageConfig(a arch, layer []byte) object {
	return object{
		"architecture": a.name, "os": "linux", "created": r.at,
		"config": object{
			"Entrypoint": []string{"/usr/bin/tare"}, "WorkingDir": "/root",
			"Env": []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			"Labels": object{
				"org.opencontainers.image.title": "tare", "org.opencontainers.image.version": r.number(),
				"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.source": r.home,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
		"rootfs":  object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
		"history": []object{{"created": r.at, "created_by": "make release"}},
	}
}
