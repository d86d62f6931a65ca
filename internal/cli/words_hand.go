package cli

import (
	"cmp"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/record"
)

// Words of tare config, of tare list and of the manual pages.

// onlyTyped is an error.
const onlyTyped = "--%s is for the command line alone"

// standings say what became of a loss.
var standings = map[record.AdviceStanding]messages.Key{
	record.StandingProved: "standing.proved", record.StandingNoHelp: "standing.nohelp",
	record.StandingUndecided: "standing.undecided", record.StandingSkipped: "standing.skipped", record.StandingInvalid: "standing.invalid",
}

// standingOf is what became of a loss; one of another version of tare is undecided.
func standingOf(l record.AdviceLoss) messages.Key {
	return cmp.Or(standings[l.Standing], "standing.undecided")
}

const (
	manualTitle = "tare manual"
	manualAbout = "measure what a database or a disk loses in a container"
)

// manualFiles are the configuration files.
var manualFiles = [][2]string{
	{"$XDG_CONFIG_HOME/tare/config.yaml, ~/.config/tare/config.yaml", "The user's configuration file."},
	{systemSettings, "That of all users of the host."},
}

// manualEnvironment says how a variable sets a flag.
var manualEnvironment = settings.Variable("name") + " sets the option --name of every command: " +
	settings.Variable("budget") + "=10m is --budget=10m. An option on the command line comes first, then the environment, " +
	"then the user's configuration file, then the system's. tare config shows what is set where."
