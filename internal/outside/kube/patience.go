package kube

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Pods run on without their API server, so calls wait for it to come back. All calls to one
// server share one patience: undoing many arms must not wait many times.

const (
	// usualPatience is how long an API server may be away before calls fail.
	usualPatience = time.Minute
	// stale is for how long calls fail at once after the patience was used up.
	stale = 10 * time.Second
)

// silence is a time in which an API server does not answer.
type silence struct {
	server      string
	mu          sync.Mutex
	since, last time.Time // of the first and the latest failure
	err         error     // the latest failure; nil: the server answers
	away        aways
}

// Silences holds the silences of API servers for several connections.
type Silences struct {
	mu   sync.Mutex
	of   map[string]*silence
	tell func(string)
}

func (s *Silences) at(server string) *silence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*silence{}
	}
	if s.of[server] == nil {
		s.of[server] = &silence{server: server}
	}
	return s.of[server]
}

// patiently repeats a call while the API server is away or overloaded.
func (c *Cluster) patiently(ctx context.Context, ask func() error) error {
	s := c.Silences.at(c.Server)
	if err := s.givenUp(c.Patience); err != nil {
		return err
	}
	begun := time.Now()
	slow := time.AfterFunc(tellAfter, func() { c.Quiet(begun) })
	defer slow.Stop()
	for {
		began := time.Now()
		err := ask()
		if err == nil || !passing(err) {
			s.over()
			slow.Stop()
			c.Heard()
			return err
		}
		if ctx.Err() != nil || s.lasts(began, err) > c.Patience {
			return err
		}
		if stop := pause(ctx); stop != nil {
			return errors.Join(stop, err)
		}
	}
}

// givenUp is the error of a server for which the patience was just used up.
func (s *silence) givenUp(patience time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil && time.Since(s.last) > stale {
		s.err = nil
	}
	if s.err != nil && s.last.Sub(s.since) > patience {
		return s.err
	}
	return nil
}

// lasts notes the failure of a call that began then, and returns how long all calls have
// failed.
func (s *silence) lasts(began time.Time, err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	if s.err == nil {
		s.since = began
	}
	var asked *url.Error
	if errors.As(err, &asked) { // other calls return this error too: it must not name the path
		err = &url.Error{Op: "ask", URL: s.server, Err: asked.Err}
	}
	s.err = err
	return s.last.Sub(s.since)
}

func (s *silence) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = nil
}

// passing says whether an error is about the API server and not about the call, so that the
// call may succeed later.
func passing(err error) bool {
	var netErr net.Error
	var urlErr *url.Error
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		errors.As(err, &netErr) || errors.As(err, &urlErr)
}
