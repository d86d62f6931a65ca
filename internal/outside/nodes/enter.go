package nodes

import (
	"os"

	"github.com/tarelab/tare/internal/outside/enter"
	"github.com/tarelab/tare/internal/outside/kube"
)

// toHost is roleEnter: it moves from the helper's container into the namespaces of the
// node's host and executes this binary there as roleHost, with a task. It returns only
// on errors.
func toHost(task []string) error {
	var files []*os.File
	for _, path := range []string{selfPath, kube.HelperToken, kube.HelperCA} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	door, err := enter.Find(enter.OfPod())
	if err != nil {
		return err
	}
	if err := door.Go(); err != nil {
		return err
	}
	return enter.Execute(files, []string{"tare", Command, roleHost, door.Whose}, task, environment(door.Containerd))
}

// environment is the environment of tare on the node. containerd is the address of its
// socket, or "".
func environment(containerd string) []string {
	env := []string{
		enter.Path, "HOME=/root", "LANG=C.UTF-8",
		"KUBERNETES_SERVICE_HOST=" + os.Getenv("KUBERNETES_SERVICE_HOST"),
		"KUBERNETES_SERVICE_PORT=" + os.Getenv("KUBERNETES_SERVICE_PORT"),
	}
	if containerd != "" {
		env = append(env, "CONTAINERD_ADDRESS="+containerd)
	}
	return env
}
