package db

// Promise is a setting that decides what a commit survives.
type Promise struct {
	Name string // of the server's variable, as in Query
	// Means is the meaning of a value, in lower case, for a commit. Arms are equal if the meanings
	// are. all are the values of all variables by name.
	Means func(value string, all map[string]string) string
}

// Verbatim is for values that are their own meaning.
func Verbatim(value string, _ map[string]string) string { return value }

// OnOff is for switches: it returns "on" or "off" for each spelling.
func OnOff(value string, _ map[string]string) string {
	switch value {
	case "1", "on", "yes", "true":
		return "on"
	case "0", "off", "no", "false":
		return "off"
	}
	return value
}
