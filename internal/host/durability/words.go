package durability

import (
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// The classes.
const (
	medium  Class = "on the device"         // survives any failure of the host
	cached  Class = "in the device's cache" // lost when the device loses power
	page    Class = "in the page cache"     // lost when the kernel crashes
	memory  Class = "in memory"             // lost at the unmount
	network Class = "on another machine"    // what that machine does with it is not observed
	unknown Class = "unknown"
)

func fewWrites(t storage.Trial, c storage.Count, device string) record.Said {
	return record.Say("few_device_writes", "syncs", t.Syncs, "writes", c.Writes, "device", device)
}

func fewFlushes(t storage.Trial, c storage.Count, device string) record.Said {
	return record.Say("few_device_flushes", "syncs", t.Syncs, "flushes", c.Flushes, "device", device)
}

// counted is the setting about a device.
func counted(c storage.Count, syncs int) record.Said {
	return record.Say("device_counted", "writes", c.Writes, "flushes", c.Flushes, "syncs", syncs)
}

// otherClass is a difference of classes.
func otherClass(arm string, mine Class, why record.Said, base string, theirs Class, because record.Said) record.Said {
	return record.Say("other_durability", "arm", arm, "class", mine, "why", why, "baseline", base, "other", theirs, "because", because)
}
