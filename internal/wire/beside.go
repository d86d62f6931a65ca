package wire

import "context"

// MeasureBeside measures the load of r and watches other, in another pod, during the same
// window. The two windows differ by the time that the requests are on their way. A window
// whose length the load decides (Asked), or that is cut into ticks, cannot be watched:
// watched is empty then. watchErr is why other could not be watched.
func MeasureBeside(ctx context.Context, r, other Remote, w WindowSpec) (measured, watched Sample, watchErr, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !w.Asked && w.Tick == 0 {
			watched, watchErr = other.Watch(ctx, w)
		}
	}()
	measured, err = r.Measure(ctx, w)
	<-done
	return measured, watched, watchErr, err
}
