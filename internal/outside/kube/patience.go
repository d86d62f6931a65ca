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

// A cluster is not lost with its API server, and what runs goes on: what was begun
// waits for one that is away. All that waits for the same server shares one patience,
// so that the way back of many arms does not take it many times.

const (
	// usualPatience is how long an API server may be away before what was begun fails.
	usualPatience = time.Minute
	// stale is how long a server that was given up is not asked again.
	stale = 10 * time.Second
)

// silence is how long an API server has given no answer.
type silence struct {
	server      string
	mu          sync.Mutex
	since, last time.Time // of the first and the latest failure
	err         error     // the latest; nil: it answers
	away        aways
}

// Silences are those of the API servers that several connections ask.
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

// patiently asks again while the API server is away or has no time.
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

// givenUp is the error of a server that was waited for in vain a moment ago.
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

// lasts notes that nothing was had of the server since then, and returns how long there
// has been nothing else.
func (s *silence) lasts(began time.Time, err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	if s.err == nil {
		s.since = began
	}
	var asked *url.Error
	if errors.As(err, &asked) { // others will have asked for something else
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

// passing says whether an error is about the API server and not about what it
// was asked.
func passing(err error) bool {
	var netErr net.Error
	var urlErr *url.Error
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		errors.As(err, &netErr) || errors.As(err, &urlErr)
}
