package storage

// Trial is what the devices under a volume did during 64 writes with a sync each. Other
// processes use the devices too, so the counts are upper bounds of the trial's own.
type Trial struct {
	Syncs   int
	Median  float64 // of one write with its sync, in s
	Devices []Count // in the order of Facts.Devices
}

// Count is the work of a device. NaN: the kernel does not count it.
type Count struct {
	Device          string
	Writes, Flushes float64
}
