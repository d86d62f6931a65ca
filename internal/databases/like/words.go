package like

// Reasons why a setting of the user's server is left out, and remedies.
const (
	sameInAllArms    = "tare fixes it in all arms"
	notPassedOn      = "tare passes no paths, plugins, addresses, logs and replication on, and no option that it does not know"
	valueNotPassedOn = "tare passes on numbers, words and lists of them, and no paths"
	tooLarge         = "the servers of all arms run at the same time, and the memory of this host would not hold %d MiB for each"
	nameReadable     = "name an option file that this user can read"
	correctLine      = "correct the line, or remove it"
)
