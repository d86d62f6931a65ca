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

// Streams are the standard streams of a command in a pod; nil: none.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// mostSaid bounds what is kept of what a command says, bytes.
const mostSaid = 64 << 10

// Said keeps the first of what a command says; more than an error needs is dropped.
type Said struct{ text []byte }

func (s *Said) Write(b []byte) (int, error) {
	s.text = append(s.text, b[:min(len(b), mostSaid-len(s.text))]...)
	return len(b), nil
}

// String is what was said, without space around it.
func (s *Said) String() string { return strings.TrimSpace(string(s.text)) }

// ExitError is a command in a pod that ended with a code other than 0.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Exec runs a command in a pod of one container until it ends, its code in an
// *ExitError. Any other error says nothing about whether it has ended.
func (c *Cluster) Exec(ctx context.Context, namespace, pod string, s Streams, command ...string) error {
	where := c.client.Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Command: command, Stdin: s.In != nil, Stdout: s.Out != nil, Stderr: s.Err != nil,
		}, parameters).URL()
	config := rest.CopyConfig(c.config)
	config.Timeout = 0 // of a call; this lasts as long as the command
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", where)
	if err != nil {
		return err
	}
	socket, err := remotecommand.NewWebSocketExecutor(config, "GET", where.String())
	if err != nil {
		return err
	}
	// As kubectl does: clusters before 1.30, and proxies, have no WebSocket here.
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

// Send runs a command in a pod and gives it what there is to read, until it ends. It is
// given up when it takes nothing for so long, or does not end so long after it has all of
// it: that a kubelet does not answer shows in no other way, for the API server keeps the
// connection alive. What the command says on its standard error is returned in any case.
func (c *Cluster) Send(ctx context.Context, namespace, pod string, from io.Reader, bound time.Duration, command ...string) (said string, err error) {
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

// stalling is a context that ends when nothing was read for so long.
func stalling(ctx context.Context, from io.Reader, bound time.Duration) (_ context.Context, in io.Reader, stop func()) {
	ctx, giveUp := context.WithCancelCause(ctx)
	timer := time.AfterFunc(bound, func() { giveUp(fmt.Errorf("it has taken nothing of what it is sent for %v", bound)) })
	return ctx, moving{from, timer, bound}, func() { timer.Stop(); giveUp(nil) }
}

// moving puts a timer off with each piece that is read.
type moving struct {
	io.Reader
	timer *time.Timer
	bound time.Duration
}

func (m moving) Read(b []byte) (int, error) {
	m.timer.Reset(m.bound)
	return m.Reader.Read(b)
}

// Server is where a cluster's API is, and whom to trust there.
type Server struct {
	URL      string
	CA       []byte // PEM; empty: those of the system
	Name     string // that its certificate is for, where that is not its address
	Insecure bool   // the user's kubeconfig says: skip the check
}

// Serving is the API server as this connection knows it.
func (c *Cluster) Serving() (Server, error) {
	t := rest.CopyConfig(c.config)
	if err := rest.LoadTLSFiles(t); err != nil {
		return Server{}, fmt.Errorf("read whom to trust: %w", err)
	}
	return Server{URL: t.Host, CA: t.CAData, Name: t.ServerName, Insecure: t.Insecure}, nil
}
