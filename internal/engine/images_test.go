package engine

import (
	"errors"
	"fmt"
	"testing"
)

func TestPlatforms(t *testing.T) {
	const list = `REF                      TYPE                                                 DIGEST        SIZE      PLATFORMS               LABELS
localhost/tare-foreign:1 application/vnd.docker.distribution.manifest.v2+json sha256:0e5f70 1.3 KiB   linux/s390x             io.cri-containerd.image=managed
docker.io/library/db:11  application/vnd.oci.image.index.v1+json              sha256:7a1f22 121.4 MiB linux/amd64,linux/arm64 -
`
	for image, want := range map[string]string{"localhost/tare-foreign:1": "[linux/s390x]", "docker.io/library/db:11": "[linux/amd64 linux/arm64]"} {
		line, err := lineOf(list, image)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(platformsOf(line)); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
	if _, err := lineOf(list, "none"); !errors.Is(err, ErrNoImage) {
		t.Errorf("%v, want that there is no such image", err)
	}
}
