package facts

// Control is what this host offers to keep processes apart, found by looking.
type Control struct {
	// Files are the names of the control files of a new group with every
	// controller that it can have; nil: could not be told, Why says why.
	Files map[string]bool
	Why   string
	// CPUs are those that this process may use, ascending.
	CPUs []int
	// Disk is the number (major:minor) of the whole disk under the scratch
	// directory; empty when there is none, DiskWhy says why.
	Disk, DiskWhy string
	// Scheduler is that disk's: "none", "mq-deadline", "bfq"; empty: not known.
	Scheduler string
}
