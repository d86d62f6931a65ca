package remedy

import "github.com/tarelab/tare/record"

func localVolume() Remedy {
	return Remedy{
		Name: "local-volume", Does: "the data are in a directory of the node",
		For:   []record.LossCause{record.LossPod, record.LossVolume},
		Gives: record.Say("gives_movable_pod"), Part: 0.6, Sets: "volume",
		On: func(l Lost) (Trial, bool) {
			name, levels := l.levels()
			a := l.arm()
			var other bool
			a.Environment, other = withLevel(name, levels, "volume", "hostpath")
			return change(a, record.OnLoad, record.KeyVolume, "hostpath", levelOf(levels, "volume")),
				l.Can.Pod && other && levelOf(levels, "volume") != ""
		},
	}
}
