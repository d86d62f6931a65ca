package enter

// Sentences for users.
const (
	enclosed       = "tare runs in a container, which is not the host"
	enclosedRemedy = `install tare on the host, or start the container with: --privileged --pid=host -v "$PWD:$PWD" -w "$PWD" (docs/container.md)`
	sees           = "tare runs in a container that may not enter its host"
	seesRemedy     = "start the container as root with --privileged (docs/container.md)"
)

// Errors and their remedies.
const (
	notEntered     = "tare: enter the host of this container:"
	runtimeItself  = "the container runtime"
	onlyTare       = "tare: this command is for tare itself"
	noDirectory    = "the host has no directory %s, in which the container started tare"
	directoryThere = `start the container in a directory of the host: -v "$PWD:$PWD" -w "$PWD"`
)
