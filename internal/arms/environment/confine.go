package environment

// Profile is the AppArmor profile to ask for; empty: the default of runtime or engine.
func (c Container) Profile() string {
	if c.AppArmor == Default {
		return ""
	}
	return c.AppArmor
}

// SecurityOptions are the chosen values for --security-opt of Docker and Podman.
func (c Container) SecurityOptions() (all []string) {
	if c.Seccomp == Unconfined {
		all = append(all, "seccomp="+Unconfined)
	}
	if p := c.Profile(); p != "" {
		all = append(all, "apparmor="+p)
	}
	return all
}
