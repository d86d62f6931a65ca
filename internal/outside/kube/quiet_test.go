package kube

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// The client library's log does not reach the user's terminal.
func TestTheLibraryIsQuiet(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	_, err = Access{Kubeconfig: config}.Connect()
	utilruntime.HandleError(errors.New("use of closed network connection"))
	os.Stderr = stderr
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(read); err != nil || len(said) > 0 {
		t.Errorf("%q, %v", said, err)
	}
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {}}]
`
