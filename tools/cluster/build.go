package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const version = "v1.34.4"

// programs are built from k8s.io/kubernetes.
var programs = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"}

// source is the directory of this module: the program is run from it (go -C).
func source() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "pause", "main.go")); err != nil {
		return "", errors.New("run it in its own directory: go -C tools/cluster run . up")
	}
	return dir, nil
}

// build builds the programs of Kubernetes unless the user's cache has them, and
// returns the directory that they are in. They depend on this module's go.sum, on
// this file and on the compiler.
func build(ctx context.Context) (string, error) {
	src, err := source()
	if err != nil {
		return "", err
	}
	names := append(slices.Clone(programs), "pause")
	return kept(version, names, []string{filepath.Join(src, "go.sum"), filepath.Join(src, "build.go")}, func(dir string) error {
		work := filepath.Join(dir, "source") // what is compiled half is found again by its place
		if err := errors.Join(os.RemoveAll(work), os.Mkdir(work, 0o755)); err != nil {
			return err
		}
		defer os.RemoveAll(work)
		modfile, err := impatient(ctx, src, work)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "cluster: building Kubernetes %s, some minutes; it is kept in %s\n", version, dir)
		// Without functions inlined and without what a debugger reads, a third less is compiled;
		// the standard library is what every build on this machine has.
		args := []string{"build", "-modfile", modfile, "-gcflags", "all=-l -dwarf=false", "-gcflags", "std=", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + version, "-o", dir + "/"}
		for _, p := range programs {
			args = append(args, "k8s.io/kubernetes/cmd/"+p)
		}
		return goNicely(ctx, src, append(args, "./pause")...)
	})
}

// provisioner builds tools/provisioner unless the user's cache has it, and returns
// its path.
func provisioner(ctx context.Context) (string, error) {
	src, err := source()
	if err != nil {
		return "", err
	}
	own := filepath.Join(filepath.Dir(src), "provisioner")
	of := []string{filepath.Join(own, "go.sum"), filepath.Join(own, "main.go")}
	dir, err := kept("provisioner", []string{"provisioner"}, of, func(dir string) error {
		fmt.Fprintf(os.Stderr, "cluster: building the provisioner of volumes; it is kept in %s\n", dir)
		return goNicely(ctx, own, "build", "-gcflags", "all=-l -dwarf=false", "-gcflags", "std=", "-ldflags", "-s -w", "-o", dir+"/", ".")
	})
	return filepath.Join(dir, "provisioner"), err
}

// kept is a directory of the user's cache with programs by these names, which make
// puts there where they are not, or not as they were made. They depend on the files
// of and on the compiler.
func kept(what string, names, of []string, make func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the programs: %w; set HOME or XDG_CACHE_HOME", err)
	}
	h := sha256.New()
	for _, file := range of {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	dir := filepath.Join(cache, "tare-cluster", fmt.Sprintf("%s-%s-%s-%x", what, runtime.GOARCH, runtime.Version(), h.Sum(nil)[:8]))
	done := filepath.Join(dir, "done")
	if before, err := os.ReadFile(done); err == nil {
		if now, err := sums(dir, names); err == nil && now == string(before) {
			return dir, nil
		}
		fmt.Fprintf(os.Stderr, "cluster: %s is not as it was built\n", dir)
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := make(dir); err != nil {
		return "", fmt.Errorf("build %s: %w", what, err)
	}
	now, err := sums(dir, names)
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, []byte(now), 0o644)
}

// sums are the check sums of the built programs, a line each: a cache that was cut
// off or changed is noticed.
func sums(dir string, names []string) (string, error) {
	var lines strings.Builder
	for _, p := range names {
		f, err := os.Open(filepath.Join(dir, p))
		if err != nil {
			return "", err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "%x  %s\n", h.Sum(nil), p)
	}
	return lines.String(), nil
}

// goNicely runs the go command, after everybody else's turn.
func goNicely(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "10", "go"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// grace is how long Kubernetes lets a namespace lie before it empties it, so that
// watchers know; it is a constant there. Every test of a pod ends with a namespace
// that goes: 5 s of each that test nothing.
const (
	graceIn   = "pkg/controller/namespace/namespace_controller.go"
	grace     = "namespaceDeletionGracePeriod = 5 * time.Second"
	lessGrace = "namespaceDeletionGracePeriod = 500 * time.Millisecond"
)

// impatient is a go.mod in which Kubernetes is a copy whose constant is smaller.
func impatient(ctx context.Context, src, work string) (string, error) {
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", "k8s.io/kubernetes")
	download.Dir, download.Env = src, append(os.Environ(), "GOFLAGS=")
	download.Stderr = os.Stderr
	out, err := download.Output()
	var module struct{ Dir string }
	if err := errors.Join(err, json.Unmarshal(out, &module)); err != nil {
		return "", fmt.Errorf("bring the source of Kubernetes: %w: %s", err, out)
	}
	changed := filepath.Join(work, "kubernetes")
	if err := os.CopyFS(changed, os.DirFS(module.Dir)); err != nil {
		return "", fmt.Errorf("copy the source of Kubernetes: %w", err)
	}
	file := filepath.Join(changed, graceIn)
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if strings.Count(string(text), grace) != 1 {
		return "", fmt.Errorf("%s of Kubernetes %s does not say %q once", graceIn, version, grace)
	}
	mod, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(src, "go.sum"))
	if err != nil {
		return "", err
	}
	modfile := filepath.Join(work, "go.mod")
	return modfile, errors.Join(
		os.WriteFile(file, []byte(strings.Replace(string(text), grace, lessGrace, 1)), 0o644),
		os.WriteFile(modfile, fmt.Appendf(mod, "\nreplace k8s.io/kubernetes => %s\n", changed), 0o644),
		os.WriteFile(filepath.Join(work, "go.sum"), sum, 0o644))
}
