package remedy

import "github.com/tarelab/tare/record"

func bind() Remedy {
	return Remedy{
		Name: "bind", Does: "the data are in a directory of the host, which the container mounts",
		For:   []record.LossCause{record.LossOverlay, record.LossVolume},
		Gives: record.Say("gives_data_of_container"), Part: 0.8, Sets: "volume",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Volume = "bind"
			return change(a, record.OnLoad, record.KeyVolume, "bind", l.Volume), l.Volume != "bind" && !l.Can.Pod
		},
	}
}
