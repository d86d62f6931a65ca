package kube

import (
	"sync"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// This file tells the user while a cluster does not answer. The record keeps each such time.

// tellAfter is how long a cluster may not answer before the user is told.
const tellAfter = 5 * time.Second

// Away is a time in which a cluster did not answer.
type Away struct {
	Server string
	From   time.Time
	For    time.Duration
}

// Said is the time in a sentence.
func (a Away) Said() record.Said {
	return record.Say("cluster_silent", "server", a.Server, "silent", a.For.Round(time.Second).Seconds(), "from", a.From.UTC().Format("15:04:05 UTC"))
}

// aways are the times in which one server did not answer.
type aways struct {
	mu   sync.Mutex
	now  *Away // the user was told, and the server does not answer yet; nil: the server answers
	past []Away
}

// quiet tells the user, once, that a server has not answered since a time.
func (s *outage) quiet(since time.Time, tell func(messages.Message)) {
	s.away.mu.Lock()
	defer s.away.mu.Unlock()
	if s.away.now != nil {
		return
	}
	s.away.now = &Away{Server: s.server, From: since}
	tell(messages.Say("cluster.silent", "server", s.server, "time", time.Since(since).Round(time.Second)))
}

// heard tells the user that a server answers again, if quiet has told that it does not.
func (s *outage) heard(tell func(messages.Message)) {
	s.away.mu.Lock()
	defer s.away.mu.Unlock()
	if s.away.now == nil {
		return
	}
	was := *s.away.now
	was.For = time.Since(was.From)
	s.away.now, s.away.past = nil, append(s.away.past, was)
	tell(messages.Say("cluster.back", "server", s.server, "time", was.For.Round(time.Second)))
}

// Told sets the function that tells the user, which is called from any goroutine.
func (s *Outages) Told(tell func(messages.Message)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
}

func (s *Outages) say(m messages.Message) {
	s.mu.Lock()
	tell := s.tell
	s.mu.Unlock()
	if tell != nil {
		tell(m)
	}
}

// Past returns the times in which a cluster did not answer, including one that is not over.
func (s *Outages) Past() (all []Away) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.of {
		one.away.mu.Lock()
		all = append(all, one.away.past...)
		if now := one.away.now; now != nil {
			all = append(all, Away{now.Server, now.From, time.Since(now.From)})
		}
		one.away.mu.Unlock()
	}
	return all
}

// Quiet tells the user that the cluster has not answered since a time. The owner of a stream through the
// cluster calls it when nothing has come through the stream since then, and Heard when something has.
func (c *Cluster) Quiet(since time.Time) { c.Outages.at(c.Server).quiet(since, c.Outages.say) }

// Heard tells the user that the cluster answers again, after Quiet.
func (c *Cluster) Heard() { c.Outages.at(c.Server).heard(c.Outages.say) }
