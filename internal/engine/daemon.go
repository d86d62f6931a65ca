package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/docker/go-connections/sockets"
	"github.com/docker/go-connections/tlsconfig"
)

// daemon is the REST interface of a Docker daemon, as far as tare needs it
// (https://docs.docker.com/reference/api/engine). Docker's own client is as much to
// compile as all of net/http: it brings a library for traces.
type daemon struct {
	host      string // unix:///PATH, tcp://HOST:PORT
	base      url.URL
	transport *http.Transport

	mu     sync.Mutex
	prefix string // of every path: the version; empty: not asked for yet
}

// usualDaemon is where a daemon is when nobody says another place.
const usualDaemon = "unix:///var/run/docker.sock"

// newest is the version of the interface whose types this package uses. A daemon
// that is older is asked in its own.
const newest = 56 // 1.56

// connectDaemon prepares a connection. The environment has the say that it has with
// Docker's own client: DOCKER_HOST where host is empty, DOCKER_CERT_PATH and
// DOCKER_TLS_VERIFY for a daemon elsewhere.
func connectDaemon(host string) (*daemon, error) {
	d := &daemon{host: cmp.Or(host, os.Getenv("DOCKER_HOST"), usualDaemon), transport: &http.Transport{}}
	scheme, address, ok := strings.Cut(d.host, "://")
	if !ok || address == "" {
		return nil, fmt.Errorf("the address of the daemon %q is not like %s", d.host, usualDaemon)
	}
	if err := sockets.ConfigureTransport(d.transport, scheme, address); err != nil {
		return nil, err
	}
	d.base = url.URL{Scheme: "http", Host: address}
	if scheme == "unix" {
		d.base.Host = "docker" // any: the path is the address
		return d, nil
	}
	return d, d.secure()
}

// secure takes the certificates that DOCKER_CERT_PATH names.
func (d *daemon) secure() error {
	dir := os.Getenv("DOCKER_CERT_PATH")
	if dir == "" {
		return nil
	}
	config, err := tlsconfig.Client(tlsconfig.Options{
		CAFile: filepath.Join(dir, "ca.pem"), CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"),
		InsecureSkipVerify: os.Getenv("DOCKER_TLS_VERIFY") == "", MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		return fmt.Errorf("read the certificates of DOCKER_CERT_PATH=%s: %w", dir, err)
	}
	d.transport.TLSClientConfig, d.base.Scheme = config, "https"
	return nil
}

// answerError is what a daemon answers instead of what was asked for.
type answerError struct {
	code int // of HTTP
	text string
}

func (e *answerError) Error() string { return "the daemon answers: " + e.text }

// notThere says that the daemon has no such container or image.
func notThere(err error) bool {
	var a *answerError
	return errors.As(err, &a) && a.code == http.StatusNotFound
}

// version is what to put before a path: the newest that both sides speak, or what
// DOCKER_API_VERSION says.
func (d *daemon) version(ctx context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := os.Getenv("DOCKER_API_VERSION"); v != "" {
		d.prefix = "/v" + strings.TrimPrefix(v, "v")
	}
	if d.prefix != "" {
		return d.prefix, nil
	}
	r, err := d.send(ctx, http.MethodGet, "/_ping", nil, nil, "")
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	theirs := r.Header.Get("Api-Version")
	minor, err := strconv.Atoi(strings.TrimPrefix(theirs, "1."))
	if err != nil {
		return "", fmt.Errorf("the daemon's version of the interface is %q, not 1.NUMBER", theirs)
	}
	d.prefix = fmt.Sprintf("/v1.%d", min(minor, newest))
	return d.prefix, nil
}

// send asks. The answer's body is for the caller to close.
func (d *daemon) send(ctx context.Context, method, path string, query url.Values, body io.Reader, kind string) (*http.Response, error) {
	at := d.base
	at.Path, at.RawQuery = path, query.Encode()
	q, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		q.Header.Set("Content-Type", kind)
	}
	r, err := d.transport.RoundTrip(q)
	if err != nil {
		return nil, fmt.Errorf("ask the daemon at %s: %w", d.host, err)
	}
	if r.StatusCode >= 200 && r.StatusCode < 400 { // 304: it is so already
		return r, nil
	}
	defer r.Body.Close()
	return nil, refusal(r)
}

// refusal reads the daemon's reason.
func refusal(r *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return err
	}
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = cmp.Or(strings.TrimSpace(string(text)), r.Status)
	}
	return &answerError{r.StatusCode, said.Message}
}

// stream asks with a body as it is; the answer is for the caller to close.
func (d *daemon) stream(ctx context.Context, method, path string, query url.Values, body io.Reader, kind string) (io.ReadCloser, error) {
	v, err := d.version(ctx)
	if err != nil {
		return nil, err
	}
	r, err := d.send(ctx, method, v+path, query, body, kind)
	if err != nil {
		return nil, err
	}
	return r.Body, nil
}

// ask asks with a value in JSON and reads the answer into another; nil: none.
func (d *daemon) ask(ctx context.Context, method, path string, query url.Values, with, into any) error {
	var body io.Reader
	kind := ""
	if with != nil {
		text, err := json.Marshal(with)
		if err != nil {
			return err
		}
		body, kind = bytes.NewReader(text), "application/json"
	}
	answer, err := d.stream(ctx, method, path, query, body, kind)
	if err != nil {
		return err
	}
	defer answer.Close()
	if into == nil {
		_, err = io.Copy(io.Discard, answer)
		return err
	}
	return json.NewDecoder(answer).Decode(into)
}

// close lets go of the connections.
func (d *daemon) close() { d.transport.CloseIdleConnections() }
