package kube

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Send does not bound a command that goes on reading. It gives up on one that stops reading or
// does not end.
func TestStalling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bound = time.Second
		ctx, in, stop := stalling(t.Context(), strings.NewReader("piece by piece"), bound)
		defer stop()
		for range 20 {
			time.Sleep(bound / 2)
			if _, err := in.Read(make([]byte, 1)); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("given up while it was read: %v", context.Cause(ctx))
		}
		<-ctx.Done()
		if err := context.Cause(ctx); !strings.Contains(err.Error(), "it has read nothing for 1s") {
			t.Error(err)
		}
		again, _, stop := stalling(t.Context(), strings.NewReader(""), bound)
		stop()
		if context.Cause(again) != context.Canceled {
			t.Error(context.Cause(again))
		}
	})
}
