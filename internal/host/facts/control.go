package facts

// Control is what inspect found of this host that can keep processes apart.
type Control struct {
	// Files are the names of the control files in a new group with every controller that it can
	// have. nil: they could not be listed, and Why is the reason.
	Files map[string]bool
	Why   string
	// CPUs are the CPUs that this process may use, ascending.
	CPUs []int
	// Disk is the number (MAJOR:MINOR) of the whole disk with the scratch directory. Empty:
	// there is none, and DiskWhy is the reason.
	Disk, DiskWhy string
	// Scheduler is the I/O scheduler of that disk: "none", "mq-deadline", "bfq"; empty: not
	// known.
	Scheduler string
}
