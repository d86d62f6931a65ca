package durability

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/linux/storage"
)

// The classes.
const (
	Medium  Class = "on the device"         // survives any failure of the host
	Cached  Class = "in the device's cache" // lost when the device loses power
	Page    Class = "in the page cache"     // lost when the kernel crashes
	Memory  Class = "in memory"             // lost at the unmount
	Network Class = "on another machine"    // what that machine does with it is not observed
	Unknown Class = "unknown"
)

// Reasons of a class.
const (
	mountedVolatile = "the overlay is mounted volatile"
	noFlushCounter  = "no device below counts its flushes"
)

func inMemory(fs string) string { return "the file system is in memory (" + fs + ")" }

func ofAnother(fs string) string { return "the file system is another machine's (" + fs + ")" }

func noBarriers(options []string) string {
	return "mounted without write barriers (" + strings.Join(options, ",") + ")"
}

func noDevice(fs string) string {
	return fs + " has no block device whose flushes can be counted"
}

func fewWrites(t storage.Trial, c storage.Count, device string) string {
	return fmt.Sprintf("%d syncs made %.0f writes to %s", t.Syncs, c.Writes, device)
}

func fewFlushes(t storage.Trial, c storage.Count, device string) string {
	return fmt.Sprintf("%d syncs made %.0f flushes of %s, which caches writes", t.Syncs, c.Flushes, device)
}

func reached(t storage.Trial, device string) string {
	return fmt.Sprintf("%d syncs reached %s", t.Syncs, device)
}

// counted is the setting about a device.
func counted(writes, flushes string, syncs int) string {
	return fmt.Sprintf("%s writes, %s flushes for %d syncs", writes, flushes, syncs)
}

// otherClass is a difference of classes.
func otherClass(arm string, mine Class, why, base string, theirs Class, because string) string {
	return fmt.Sprintf("synced data of %s is %s (%s), that of %s is %s (%s)", arm, mine, why, base, theirs, because)
}

// otherPromise is a difference of a server's setting.
func otherPromise(name, mine, arm, theirs, base string) string {
	return fmt.Sprintf("%s is %s in %s and %s in %s", name, mine, arm, theirs, base)
}
