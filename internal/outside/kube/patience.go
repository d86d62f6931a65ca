package kube

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tarelab/tare/internal/base/messages"
)

// Pods run on without their API server, so calls to a server that does not answer are repeated for a
// time, the patience. All calls to one server share it: undoing many arms must not wait many times.

const (
	// usualPatience is how long an API server may be away before calls fail.
	usualPatience = time.Minute
	// failFastFor is how long calls fail at once after the patience was used up. Then a call tries
	// the server again.
	failFastFor = 10 * time.Second
)

// outage is a time in which an API server does not answer.
type outage struct {
	server      string
	mu          sync.Mutex
	since, last time.Time // of the first and the latest failure
	err         error     // the latest failure; nil: the server answers
	away        aways
}

// Outages holds the outages of API servers for several connections.
type Outages struct {
	mu   sync.Mutex
	of   map[string]*outage
	tell func(messages.Message)
}

func (s *Outages) at(server string) *outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*outage{}
	}
	if s.of[server] == nil {
		s.of[server] = &outage{server: server}
	}
	return s.of[server]
}

// patiently repeats a call while the API server is away or overloaded.
func (c *Cluster) patiently(ctx context.Context, ask func() error) error {
	s := c.Outages.at(c.Server)
	if err := s.givenUp(c.Patience); err != nil {
		return err
	}
	begun := time.Now()
	slow := time.AfterFunc(tellAfter, func() { c.Quiet(begun) })
	defer slow.Stop()
	for {
		began := time.Now()
		err := ask()
		if err == nil || !isTransient(err) || certain(err) {
			s.noteAnswer()
			slow.Stop()
			c.Heard()
			return err
		}
		if ctx.Err() != nil || s.noteFailure(began, err) > c.Patience {
			return err
		}
		if stop := pause(ctx); stop != nil {
			return errors.Join(stop, err)
		}
	}
}

// givenUp returns the error of a server whose patience was used up less than failFastFor ago; nil:
// ask the server.
func (s *outage) givenUp(patience time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil && time.Since(s.last) > failFastFor {
		s.err = nil
	}
	if s.err != nil && s.last.Sub(s.since) > patience {
		return s.err
	}
	return nil
}

// noteFailure notes the failure of a call, which began at began. It returns how long all calls have
// failed.
func (s *outage) noteFailure(began time.Time, err error) time.Duration {
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

// noteAnswer notes that the server has answered.
func (s *outage) noteAnswer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = nil
}

// isTransient says whether an error is about the API server and not about the call, so that the same
// call may succeed later.
func isTransient(err error) bool {
	var netErr net.Error
	var urlErr *url.Error
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		errors.As(err, &netErr) || errors.As(err, &urlErr)
}
