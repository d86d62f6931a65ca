package environment

// Profile is the AppArmor profile to ask for; empty: what there is without asking.
func (c Container) Profile() string {
	if c.AppArmor == Default {
		return ""
	}
	return c.AppArmor
}

// SecurityOptions are what was chosen as --security-opt of Docker and Podman takes it.
func (c Container) SecurityOptions() (all []string) {
	if c.Seccomp == Unconfined {
		all = append(all, "seccomp="+Unconfined)
	}
	if p := c.Profile(); p != "" {
		all = append(all, "apparmor="+p)
	}
	return all
}
