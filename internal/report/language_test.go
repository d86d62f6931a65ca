package report

import "github.com/tarelab/tare/internal/base/messages"

// The languages of the tests.
var (
	english = In(messages.In(messages.English))
	chinese = In(messages.In(messages.Chinese))
)
