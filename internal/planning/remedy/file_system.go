package remedy

import (
	"strings"

	"github.com/tarelab/tare/record"
)

func fileSystem() Remedy {
	return Remedy{
		Name: "file-system", Does: "the data are on another file system: XFS, or ext4 instead of XFS",
		For:   []record.LossCause{record.LossVolume},
		Gives: record.Say("gives_time_to_copy"), Part: 0.4, Sets: "volume",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			if a.Volume = "loop:xfs"; strings.HasPrefix(l.Volume, a.Volume) {
				a.Volume = "loop:ext4"
			}
			return change(a, record.OnLoad, record.KeyVolume, a.Volume, l.Volume), strings.HasPrefix(l.Volume, "loop:")
		},
	}
}
