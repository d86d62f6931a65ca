package analysis

// adoptedWarning is a warning about settings of the user's server, adoptedMore the end of a long list of them.
const (
	adoptedWarning = "not as in your server: %s"
	adoptedMore    = "and %d more (plan.json has all)"
)
