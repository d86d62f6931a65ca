package enter

// Errors and their remedies.
const (
	notEntered     = "tare: enter the host of this container:"
	runtimeItself  = "the container runtime"
	onlyTare       = "tare: this command is for tare itself"
	noDirectory    = "the host has no directory %s, in which the container started tare"
	directoryThere = `start the container in a directory of the host: -v "$PWD:$PWD" -w "$PWD"`
)
