package like

import "github.com/tarelab/tare/record"

// Reasons why a setting of the user's server is left out.
var (
	sameInAllArms    = record.Say("fixed_in_all_arms")
	notPassedOn      = record.Say("option_not_passed_on")
	valueNotPassedOn = record.Say("value_not_passed_on")
	isOff            = record.Say("setting_is_off")
)

func perhaps(nearest string) record.Said {
	return record.Say("option_perhaps_misspelt", "nearest", nearest)
}

func omitted(why string) record.Said { return record.Say("option_omitted", "why", why) }

func sizesChosen(chooses string) record.Said { return record.Say("sizes_chosen", "chooses", chooses) }

func notHad(server string) record.Said { return record.Say("option_not_had", "server", server) }

func notTaken(server, says string) record.Said {
	return record.Say("option_not_taken", "server", server, "text", says)
}

// tooLarge has sizes in MiB: those of the caches of a server, and its part of the host's memory.
func tooLarge(total, share int64) record.Said {
	return record.Say("caches_too_large", "total_mib", total, "share_mib", share)
}

// unnamed stands for the name of what may be a password.
const unnamed = "an option without a value"

// Errors about an option file: remedies.
const (
	nameReadable = "name an option file that this user can read"
	correctLine  = "correct the line, or remove it"
)
