package engines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/linux/proc"
)

// docker-proxy is found by its port; another program with such an argument is none.
func TestProxyOf(t *testing.T) {
	root := t.TempDir()
	for pid, args := range map[string]string{
		"1": "init", "20": "/usr/bin/docker-proxy -proto tcp -host-ip 127.0.0.1 -host-port 8081 -container-ip 172.17.0.2 -container-port 8081",
		"21": "/usr/bin/docker-proxy -proto tcp -host-ip 127.0.0.1 -host-port 8080 -container-ip 172.17.0.3 -container-port 8080",
		"22": "sh -host-port 8080", "23": "docker-proxy -host-port",
	} {
		dir := filepath.Join(root, "proc", pid)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.ReplaceAll(args, " ", "\x00")+"\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for port, want := range map[int]int{8080: 21, 8081: 20, 80: 0} {
		if got := proxyOf(proc.FS(root), port); got != want {
			t.Errorf("port %d: process %d, want %d", port, got, want)
		}
	}
}
