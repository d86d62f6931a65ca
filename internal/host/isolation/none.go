package isolation

import "github.com/tarelab/tare/internal/arms/environment"

// none is no protection: what the others are compared with.
type none struct{}

func (none) Describe() Description {
	return Description{Name: None, Title: "nothing between the two"}
}

func (none) Support(environment.Host) environment.Support { return environment.Supported() }

func (none) Settings(string, environment.Host) (Settings, error) { return Settings{Live: true}, nil }

// group is a cpu group of the neighbour's own with the default weight: what a
// container gives without any setting.
type group struct{}

func (group) Describe() Description {
	return Description{Name: "cpu.group", Title: "a cpu group of its own, with equal weight"}
}

func (group) Support(h environment.Host) environment.Support { return can(h, "", "cpu") }

func (group) Settings(string, environment.Host) (Settings, error) {
	return Settings{Neighbour: []string{"cpu"}, Live: true}, nil
}
