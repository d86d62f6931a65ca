package cli

import (
	"regexp"
	"strings"
)

// hiddenText stands for a value that may have a password.
const hiddenText = "(not shown)"

// presentable are the values of a flag without those that may have a password: an address that is refused, a password that was
// given for its file, a command.
func presentable(flag string, texts []string) (all []string) {
	for _, text := range texts {
		switch {
		case flag == "like-password", flag == "command":
			text = hiddenText
		case flag == "like" && isDSN(text):
			if _, _, err := address(text); err != nil {
				text = hiddenText
			}
		case flag == "set":
			if path, _, found := strings.Cut(text, "="); found && strings.HasSuffix(path, "command") {
				text = path + "=" + hiddenText
			}
		}
		all = append(all, withoutQuery(withoutPasswords(text)))
	}
	return all
}

// urlPassword matches an address with a password up to the last @ of the word.
var urlPassword = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s:/@"']*):[^\s"']*@`)

// namedPassword matches a parameter of an address whose name is that of a password.
var namedPassword = regexp.MustCompile(`(?i)([?&][^\s=&]*(?:pass|pwd|secret|token|auth)[^\s=&]*=)[^\s&"']*`)

// query matches the parameters of an address.
var query = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s?"']*\?)[^\s"']*`)

// withoutQuery replaces the parameters of addresses: the name of one that is refused can be a password.
func withoutQuery(text string) string { return query.ReplaceAllString(text, "$1***") }

// withoutPasswords replaces the passwords of addresses.
func withoutPasswords(text string) string {
	return namedPassword.ReplaceAllString(urlPassword.ReplaceAllString(text, "$1:***@"), "$1***")
}
