package environment

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
	// Resctrl is the file system of cache and memory bandwidth classes; nil
	// where it is not mounted, ResctrlWhy says why.
	Resctrl    *Resctrl
	ResctrlWhy string
}

// Resctrl is a mounted resctrl file system, see the kernel's
// Documentation/filesystems/resctrl.rst.
type Resctrl struct {
	Dir string // where it is mounted
	// Caches and Memory are the numbers of the domains of L3 caches and of
	// memory bandwidth; empty where the CPU has no control of them.
	Caches, Memory []int
	// Ways is the number of parts that an L3 cache is cut into, LeastWays the
	// least that a class must have.
	Ways, LeastWays int
	// LeastPercent is the least bandwidth of a class and Step its granularity,
	// both in percent.
	LeastPercent, Step int
}
