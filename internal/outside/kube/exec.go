package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"github.com/tarelab/tare/internal/base/hint"
)

// Streams are the standard streams of a command in a pod; nil: not connected. One must be.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// mostSaid is how many bytes of a command's output are kept for an error.
const mostSaid = 64 << 10

// Said is a writer that keeps the first mostSaid bytes of a command's output.
type Said struct{ text []byte }

func (s *Said) Write(b []byte) (int, error) {
	s.text = append(s.text, b[:min(len(b), mostSaid-len(s.text))]...)
	return len(b), nil
}

// String is the output without space around it.
func (s *Said) String() string { return strings.TrimSpace(string(s.text)) }

// ExitError means that a command in a pod ended with a code other than 0.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Exec runs a command in a pod of one container until it ends. An *ExitError has its code;
// after any other error the command may still run.
func (c *Cluster) Exec(ctx context.Context, namespace, pod string, s Streams, command ...string) error {
	where := c.client.Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Command: command, Stdin: s.In != nil, Stdout: s.Out != nil, Stderr: s.Err != nil,
		}, parameters).URL()
	config := rest.CopyConfig(c.config)
	config.Timeout = 0 // callBound would end the command
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", where)
	if err != nil {
		return err
	}
	socket, err := remotecommand.NewWebSocketExecutor(config, "GET", where.String())
	if err != nil {
		return err
	}
	// As kubectl does: clusters before 1.30 and some proxies have no WebSocket for exec.
	either, err := remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	err = either.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Stderr: s.Err})
	var code exec.CodeExitError
	if errors.As(err, &code) {
		return &ExitError{code.Code}
	}
	return c.explain("run a command in pod "+pod, err)
}

// Send runs a command in a pod with standard input until it ends, and returns its standard
// error. Send gives up when the command reads nothing for bound, or does not end within
// bound after it has read everything. A kubelet that does not answer shows in no other way:
// the API server keeps the connection alive.
func (c *Cluster) Send(ctx context.Context, namespace, pod string, from io.Reader, bound time.Duration, command ...string) (stderr string, err error) {
	moves, in, stop := stalling(ctx, from, bound)
	defer stop()
	var words Said
	err = c.Exec(moves, namespace, pod, Streams{In: in, Err: &words}, command...)
	if cause := context.Cause(moves); err != nil && cause != nil && ctx.Err() == nil {
		err = hint.New(fmt.Errorf("run a command in pod %s: %w", pod, cause),
			"look at its node, whose kubelet or container runtime may not answer: kubectl describe node")
	}
	return words.String(), err
}

// stalling is a context that ends when nothing was read from in for bound.
func stalling(ctx context.Context, from io.Reader, bound time.Duration) (_ context.Context, in io.Reader, stop func()) {
	ctx, giveUp := context.WithCancelCause(ctx)
	timer := time.AfterFunc(bound, func() { giveUp(fmt.Errorf("it has read nothing for %v", bound)) })
	return ctx, moving{from, timer, bound}, func() { timer.Stop(); giveUp(nil) }
}

// moving restarts a timer with each read.
type moving struct {
	io.Reader
	timer *time.Timer
	bound time.Duration
}

func (m moving) Read(b []byte) (int, error) {
	m.timer.Reset(m.bound)
	return m.Reader.Read(b)
}

// Server is the address of an API server, and how to verify its certificate.
type Server struct {
	URL      string
	CA       []byte // PEM; empty: the system's
	Name     string // in its certificate, where it differs from the address
	Insecure bool   // the user's kubeconfig skips verification
}

// Serving is the API server of this connection.
func (c *Cluster) Serving() (Server, error) {
	t := rest.CopyConfig(c.config)
	if err := rest.LoadTLSFiles(t); err != nil {
		return Server{}, fmt.Errorf("read whom to trust: %w", err)
	}
	return Server{URL: t.Host, CA: t.CAData, Name: t.ServerName, Insecure: t.Insecure}, nil
}
