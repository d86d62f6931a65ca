package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// build builds the programs unless the user's cache has them, and returns the
// directory that they are in. They depend on this module's go.sum and on
// the compiler.
func build(ctx context.Context) (string, error) {
	src, err := source()
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(src, "go.sum"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the programs: %w; set HOME or XDG_CACHE_HOME", err)
	}
	key := fmt.Sprintf("%s-%s-%s-%x", version, runtime.GOARCH, runtime.Version(), sha256.Sum256(sum))
	dir := filepath.Join(cache, "tare-cluster", key[:len(key)-48])
	done := filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	fmt.Fprintf(os.Stderr, "cluster: building Kubernetes %s, some minutes; it is kept in %s\n", version, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args := []string{"build", "-trimpath", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + version, "-o", dir + "/"}
	for _, p := range programs {
		args = append(args, "k8s.io/kubernetes/cmd/"+p)
	}
	if err := goNicely(ctx, src, append(args, "./pause")...); err != nil {
		return "", fmt.Errorf("build Kubernetes: %w", err)
	}
	return dir, os.WriteFile(done, nil, 0o644)
}

// goNicely runs the go command, after everybody else's turn.
func goNicely(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "10", "go"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
