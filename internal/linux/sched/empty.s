// The functions of sleep.go that have no body are those of the runtime.
