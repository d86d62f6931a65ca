package settings

import "cmp"

// Errors about a configuration file and their remedies.
const (
	form    = `write one flag a line, as "budget: 10m", and the flags of one command in a section, as "run:"`
	noPairs = "want names of flags with values"
	twice   = "%q is there twice"
	noValue = "--%s has no value"

	without = "leave it out: XDG_CONFIG_HOME=/nonexistent"

	didYouMean = "; did you mean %q?"
)

// Errors: remedy is for a file that others can write.
func remedy(path string) string {
	return "read it, then as its owner: chmod go-w " + path + "; or " + without
}

// help is the command that lists the flags; those of run are most.
func help(command string) string { return "tare help " + cmp.Or(command, "run") }
