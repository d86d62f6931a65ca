package db

// Own is how a server program says which values it has by itself, and whether it takes options. The program works in
// an empty directory that has DataDir and RunDir.
type Own struct {
	// Names are the server's names of the variables behind tare's settings.
	Names []string
	// Files are written into that directory.
	Files []File
	// Calls are arguments of the server program, one list for each call: without the settings of the Config, or with
	// these and its options. nil: the program cannot be asked.
	Calls func(v Version, c Config, settings bool) ([][]string, error)
	// Read returns the variables that the outputs of the calls without settings have, by canonical name. nil: a call
	// starts a server, which is asked with Conf.Variables over its socket.
	Read func(outputs []string) map[string]string
	// Complaints are what a call with the settings and options of the Config prints against them, on standard output
	// and on standard error, without times and prefixes.
	Complaints func(v Version, c Config, stdout, stderr string) []string
}
