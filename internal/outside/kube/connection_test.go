package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
)

// certified starts a server whose certificate is for these names and dates, and returns its address and CA.
func certified(t *testing.T, names []string, from, until time.Time) (address string, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "api"}, DNSNames: names, NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that the test wants to fail
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Each kind of error of a connection has its own remedy and one cause, and none that time does not mend is
// waited for.
func TestConnectionErrors(t *testing.T) {
	day := 24 * time.Hour
	now := time.Now()
	good, goodCA := certified(t, []string{"127.0.0.1"}, now.Add(-day), now.Add(day))
	_, otherCA := certified(t, []string{"127.0.0.1"}, now.Add(-day), now.Add(day))
	named, namedCA := certified(t, []string{"other.example"}, now.Add(-day), now.Add(day))
	old, oldCA := certified(t, []string{"127.0.0.1"}, now.Add(-2*day), now.Add(-day))
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, c := range map[string]struct {
		server string
		ca     []byte
		hints  string
	}{
		"unknown CA":   {good, otherCA, "no authority that the kubeconfig names has signed"},
		"no CA at all": {good, nil, "no authority that the kubeconfig names has signed"},
		"other name":   {named, namedCA, "its certificate is for other names"},
		"expired":      {old, oldCA, "has expired"},
		"no TLS":       {strings.Replace(plain.URL, "http:", "https:", 1), goodCA, "answers without TLS"},
		"nobody there": {strings.Replace(closed.URL, "http:", "https:", 1), goodCA, "nothing listens at"},
		"unknown name": {"https://no-such-host.invalid:6443", goodCA, "no address for no-such-host.invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			authority := ""
			if c.ca != nil {
				authority = ", certificate-authority-data: " + base64.StdEncoding.EncodeToString(c.ca)
			}
			file := filepath.Join(t.TempDir(), "config")
			text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "%s"%s}}],
contexts: [{name: c, context: {cluster: k, user: jane}}], users: [{name: jane, user: {}}]}`, c.server, authority)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cluster, err := Access{Kubeconfig: file}.Connect()
			if err != nil {
				t.Fatal(err)
			}
			defer cluster.Close()
			if c.hints == "nothing listens at" || strings.HasPrefix(c.hints, "no address") {
				cluster.Patience = 0 // these may go away
			}
			_, err = cluster.Nodes(t.Context())
			if err == nil || !errors.Is(err, ErrRefused) || !strings.Contains(hint.Of(err), c.hints) || strings.Contains(hint.Of(err), "is the cluster up") {
				t.Errorf("%v, hint %q", err, hint.Of(err))
			}
		})
	}
}

// Missing rights, refused credentials and a missing kubeconfig have the same cause as a cluster that is away.
func TestOneCause(t *testing.T) {
	for code, reason := range map[int]string{http.StatusForbidden: "Forbidden", http.StatusUnauthorized: "Unauthorized"} {
		c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
			say(w, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code})
		})
		if _, err := c.Nodes(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("%d: %v", code, err)
		}
	}
	if _, err := (Access{Kubeconfig: filepath.Join(t.TempDir(), "none")}).Connect(); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	denied := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusCreated, map[string]any{"status": map[string]any{"allowed": false}})
	})
	if err := denied.May(t.Context()); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// A node that the cluster has no longer is gone, and not healthy.
func TestGoneNode(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, map[string]any{"kind": "NodeList", "apiVersion": "v1", "items": []any{map[string]any{"metadata": map[string]any{"name": "other"}}}})
	})
	if err := c.Unready(t.Context(), "vm-2"); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "node vm-2") || hint.Of(err) == "" {
		t.Error(err)
	}
	if err := c.Unready(t.Context(), "other"); err != nil {
		t.Error(err)
	}
}
