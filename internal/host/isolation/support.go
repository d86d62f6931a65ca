package isolation

import (
	"errors"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// can says whether groups with a controller can be made, and whether they have the files;
// remedy is for files that are missing.
func can(h facts.Host, remedy string, controller string, files ...string) facts.Support {
	if h.Groups == nil {
		return facts.Unsupported(noGroups(h.GroupsWhy), h.GroupsRemedy)
	}
	var why *cgroup.Unusable
	if err := h.Groups.Can(controller); errors.As(err, &why) {
		return facts.Unsupported(why.Reason, why.Remedy)
	} else if err != nil {
		return facts.Support{Answer: facts.Unknown, Reason: err.Error()}
	}
	for _, f := range files {
		if h.Control.Files == nil {
			return facts.Support{Answer: facts.Unknown, Reason: filesNotListed(h.Control.Why)}
		}
		if !h.Control.Files[f] {
			return facts.Unsupported(noFile(f), remedy)
		}
	}
	return facts.Supported()
}

// v1 says whether a controller is in a hierarchy of version 1.
func v1(h facts.Host, controller string) bool {
	return h.Groups != nil && h.Groups.Version(controller) == 1
}
