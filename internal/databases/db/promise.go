package db

// Promise is a setting that decides what a commit survives.
type Promise struct {
	Name string // of the server's own variable, as in Query
	// Means is what a value, in lower case, means for a commit: settings that mean
	// the same are equal, whatever their words. all are the other values by name.
	Means func(value string, all map[string]string) string
}

// Itself is for a value that means what it says.
func Itself(value string, _ map[string]string) string { return value }

// Switched is for a switch, whatever its words.
func Switched(value string, _ map[string]string) string {
	switch value {
	case "1", "on", "yes", "true":
		return "on"
	case "0", "off", "no", "false":
		return "off"
	}
	return value
}
