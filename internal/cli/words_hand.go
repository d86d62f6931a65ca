package cli

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/record"
)

// Words of tare config, of tare list and of the manual pages.

const (
	configValues = "set outside of the command line"
	configNone   = "every flag has its default"
	configFiles  = "configuration files"
	configTaken  = "taken"
	configUnused = "variables that belong to no flag"
	noSuchFile   = "there is no such file"
	onlyTyped    = "--%s is for the command line alone"
)

// untaken warns of a configuration file that was not taken.
func untaken(reason, remedy string) string {
	return strings.TrimSuffix(fmt.Sprintf("warning: %s; %s", reason, remedy), "; ")
}

const (
	noResults   = "no results in %s"
	nothingLost = "nothing is lost"
)

// standingWords say what became of a loss.
var standingWords = map[record.AdviceStanding]string{
	record.StandingProved: "remedy proved", record.StandingNoHelp: "no remedy helped",
	record.StandingUndecided: "undecided", record.StandingSkipped: "no remedy tried", record.StandingInvalid: "invalid",
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
