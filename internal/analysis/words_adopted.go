package analysis

import "github.com/tarelab/tare/record"

// Settings of the user's server that the arms do not have as they stand.

func usedInstead(a record.Adopted) record.Said {
	return record.Say("used_instead", "setting", a.Name, "used", a.Used, "value", a.Value)
}

// moreAdopted is the end of a long list of settings.
func moreAdopted(n int) record.Said { return record.Say("more_in_plan", "n", n) }

// adopted has names of settings, and what usedInstead says.
func adopted(settings []any, why record.Said) record.Said {
	return record.Say("settings_because", "settings", settings, "why", why)
}

func notAsInServer(settings record.Said) record.Said {
	return record.Say("not_as_in_server", "settings", settings)
}
