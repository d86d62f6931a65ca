package isolation

import (
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// can says whether groups with a controller can be made, and whether they have the files;
// remedy is for files that are missing.
func can(h facts.Host, remedy record.Said, controller string, files ...string) facts.Support {
	if h.Groups == nil {
		return noGroups(h)
	}
	if s := h.GroupsCan(controller); s.Answer != facts.Yes {
		return s
	}
	for _, f := range files {
		if h.Control.Files == nil {
			return facts.Support{Answer: facts.Unknown, Reason: record.Say("control_files_unlisted", "why", h.Control.Why)}
		}
		if !h.Control.Files[f] {
			return facts.Unsupported(record.Say("no_control_file", "file", f), remedy)
		}
	}
	return facts.Supported()
}

func noGroups(h facts.Host) facts.Support {
	return facts.Unsupported(record.Say("no_groups", "why", h.NoGroups.Reason), h.NoGroups.Remedy)
}

// v1 says whether a controller is in a hierarchy of version 1.
func v1(h facts.Host, controller string) bool {
	return h.Groups != nil && h.Groups.Version(controller) == 1
}
