package storage

// Trial is what the devices under a volume did for 64 writes with a sync each.
// Devices are shared with everybody on the host: what they did is at least this
// trial's.
type Trial struct {
	Syncs   int
	Median  float64 // of a write and its sync, in seconds
	Devices []Count // as Facts.Devices
}

// Count is what a device did. It is NaN where the kernel does not count.
type Count struct {
	Device          string
	Writes, Flushes float64
}
