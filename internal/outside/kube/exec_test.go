package kube

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// What is taken piece by piece may take as long as it likes; what is not taken, or does
// not end, is given up.
func TestStalling(t *testing.T) {
	const bound = 500 * time.Millisecond
	ctx, in, stop := stalling(t.Context(), strings.NewReader("piece by piece"), bound)
	defer stop()
	var longest time.Duration // without a turn, on a busy host
	for began, last := time.Now(), time.Now(); time.Since(began) < 2*bound; time.Sleep(bound / 50) {
		longest, last = max(longest, time.Since(last)), time.Now()
		if _, err := in.Read(make([]byte, 1)); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	if err := ctx.Err(); err != nil && longest < bound/2 {
		t.Fatalf("given up while it was taken: %v", context.Cause(ctx))
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !strings.Contains(err.Error(), "nothing of what it is sent") {
		t.Error(err)
	}
	again, _, stop := stalling(t.Context(), strings.NewReader(""), bound)
	stop()
	if context.Cause(again) != context.Canceled {
		t.Error(context.Cause(again))
	}
}
