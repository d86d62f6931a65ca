package messages

import "strings"

// Language is a language of the catalogue.
type Language string

// The languages. Their names are those of the attribute lang of HTML.
const (
	English Language = "en"
	Chinese Language = "zh-CN"
)

// Choices are the values of the flag --lang.
func Choices() []string { return []string{"auto", "en", "zh"} }

// Choose returns the language of a value of --lang. "auto" takes the first of LC_ALL, LC_MESSAGES and LANG
// that is set, as setlocale(3) does; getenv reads a variable.
func Choose(choice string, getenv func(string) string) Language {
	switch choice {
	case "zh":
		return Chinese
	case "auto", "":
		for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
			if locale := getenv(name); locale != "" {
				return ofLocale(locale)
			}
		}
	}
	return English
}

// ofLocale is the language of a locale, such as zh_CN.UTF-8. The texts are in simplified characters, so that
// zh_TW and zh_HK are English.
func ofLocale(locale string) Language {
	name, _, _ := strings.Cut(strings.ReplaceAll(locale, "-", "_"), ".")
	name, _, _ = strings.Cut(name, "@")
	switch strings.ToLower(name) {
	case "zh", "zh_cn", "zh_sg", "zh_hans", "zh_hans_cn", "zh_hans_sg":
		return Chinese
	}
	return English
}
