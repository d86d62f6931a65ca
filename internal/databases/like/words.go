package like

// Reasons why a setting of the user's server is left out, and remedies.
const (
	sameInAllArms    = "tare fixes it in all arms"
	notPassedOn      = "tare passes no paths, plugins, addresses, logs and replication on, and no option that it does not know"
	valueNotPassedOn = "tare passes on numbers, words and lists of them, and no paths"
	tooLarge         = "the servers of all arms run at the same time: the caches of each, %d MiB in all, get %d MiB of this host's memory"
	notTaken         = "%s does not take it: %s"
	unnamed          = "an option without a value"
)

// Errors about an option file: remedies.
const (
	nameReadable = "name an option file that this user can read"
	correctLine  = "correct the line, or remove it"
)
