package kube

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
)

// The user is told once when a cluster does not answer and once when it does again, however many
// calls wait. Past has the silence, with its length so far while it lasts.
func TestSilencesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		all := &Outages{}
		all.Told(func(m messages.Message) { said = append(said, messages.In(messages.English).Say(m)) })
		first := &Cluster{Server: "https://a"}
		first.Outages = all
		second := &Cluster{Server: "https://a"}
		second.Outages = all
		first.Heard() // it was never told that it does not answer
		began := time.Now()
		time.Sleep(8 * time.Second)
		first.Quiet(began)
		second.Quiet(began)
		time.Sleep(20 * time.Second)
		second.Heard()
		first.Heard()
		want := []string{
			"the cluster at https://a has not answered for 8s; tare waits for it",
			"the cluster at https://a answers again, after 28s",
		}
		if !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
		again := time.Now()
		time.Sleep(10 * time.Second)
		first.Quiet(again)
		past := all.Past()
		if len(past) != 2 || past[0].For != 28*time.Second || past[1].For != 10*time.Second ||
			past[0].Said().Code != "cluster_silent" || past[0].Said().Value("silent") != 28.0 {
			t.Errorf("kept %v", past)
		}
	})
}
