package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
)

var about = About{Kind: "mariadb", Version: "10.11.19-MariaDB", Layout: 1, Params: map[string]string{"tables": "4", "rows": "25"}}

// write is a small data set.
func write(_ context.Context, dir string) (map[string]string, error) {
	err := errors.Join(
		os.Mkdir(filepath.Join(dir, "db"), 0o700),
		os.WriteFile(filepath.Join(dir, "db", "t1"), []byte("some rows"), 0o600),
		os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600),
	)
	return map[string]string{"server": "/usr/sbin/mariadbd"}, err
}

func never(context.Context, string) (map[string]string, error) {
	return nil, errors.New("built again")
}

func use(t *testing.T, s Store, build Build) (Set, bool) {
	t.Helper()
	set, cached, err := s.Use(t.Context(), about, 1<<20, build)
	if err != nil {
		t.Fatal(err)
	}
	return set, cached
}

func TestUseBuildsOnce(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "a", "b")}
	set, cached := use(t, s, write)
	if cached || set.Bytes != 10 || set.Notes["server"] != "/usr/sbin/mariadbd" || len(set.Files) != 2 {
		t.Errorf("cached %v, %+v", cached, set)
	}
	again, cached := use(t, s, never)
	if !cached || again.Dir != set.Dir || !again.Created.Equal(set.Created) || again.Notes["server"] == "" {
		t.Errorf("cached %v, %+v", cached, again)
	}
}

func TestKey(t *testing.T) {
	other := About{Kind: "mariadb", Version: "10.11.19-MariaDB", Layout: 1, Params: map[string]string{"rows": "25", "tables": "4"}}
	if about.Key() != other.Key() || !strings.HasPrefix(about.Key(), "mariadb-10.11.19_mariadb-") {
		t.Errorf("%s, %s", about.Key(), other.Key())
	}
	for _, a := range []About{
		{Kind: "mysql", Version: about.Version, Layout: 1, Params: about.Params},
		{Kind: "mariadb", Version: "10.11.20-MariaDB", Layout: 1, Params: about.Params},
		{Kind: "mariadb", Version: about.Version, Layout: 2, Params: about.Params},
		{Kind: "mariadb", Version: about.Version, Layout: 1, Params: map[string]string{"tables": "4"}},
	} {
		if a.Key() == about.Key() {
			t.Errorf("%+v has the same key", a)
		}
	}
	if key := (About{Kind: "../../etc", Version: "/x/" + strings.Repeat("é", 100)}).Key(); strings.ContainsAny(key, "/ ") || len(key) > 80 {
		t.Errorf("%q is no file name", key)
	}
}

// A data set that was changed in any way is built again.
func TestADamagedOneIsBuiltAgain(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"file gone":     func(d string) error { return os.Remove(filepath.Join(d, "db", "t1")) },
		"file more":     func(d string) error { return os.WriteFile(filepath.Join(d, "db", "t2"), nil, 0o600) },
		"file cut":      func(d string) error { return os.Truncate(filepath.Join(d, "db", "t1"), 3) },
		"file changed":  func(d string) error { return os.WriteFile(filepath.Join(d, "db", "t1"), []byte("other row"), 0o600) },
		"marker gone":   func(d string) error { return os.Remove(filepath.Join(d, MarkerFile)) },
		"marker cut":    func(d string) error { return os.Truncate(filepath.Join(d, MarkerFile), 30) },
		"marker empty":  func(d string) error { return os.WriteFile(filepath.Join(d, MarkerFile), []byte("{}"), 0o600) },
		"a socket more": func(d string) error { return unix.Mknod(filepath.Join(d, "s"), unix.S_IFIFO|0o600, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			set, _ := use(t, s, write)
			if err := harm(set.Dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(set.Dir); err == nil {
				t.Error("it verifies")
			}
			list, err := s.List()
			if err != nil || len(list) != 1 || list[0].Broken == "" {
				t.Errorf("listed as %+v, %v", list, err)
			}
			if _, cached := use(t, s, write); cached {
				t.Error("it was used")
			}
			if _, err := Verify(set.Dir); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMovedUnderAnotherKey(t *testing.T) {
	s := Store{t.TempDir()}
	set, _ := use(t, s, write)
	other := about
	other.Version = "11.4.2"
	if err := os.Rename(set.Dir, filepath.Join(s.Dir, other.Key())); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Use(t.Context(), other, 0, never); err == nil || !strings.Contains(err.Error(), "built again") {
		t.Errorf("a data set of another version was used: %v", err)
	}
}

func TestAFailedBuildLeavesNothing(t *testing.T) {
	s := Store{t.TempDir()}
	ctx, stop := context.WithCancel(t.Context())
	for name, build := range map[string]Build{
		"error": func(ctx context.Context, dir string) (map[string]string, error) {
			write(ctx, dir)
			return nil, errors.New("half way")
		},
		"cancelled": func(ctx context.Context, dir string) (map[string]string, error) {
			stop()
			return write(ctx, dir)
		},
	} {
		if _, _, err := s.Use(ctx, about, 0, build); err == nil {
			t.Errorf("%s: no error", name)
		}
		if list, err := s.List(); err != nil || len(list) != 0 {
			t.Errorf("%s: left %+v, %v", name, list, err)
		}
		ctx, stop = context.WithCancel(t.Context())
	}
	stop()
}

// The directory of a killed prepare is listed, never used, and removed by the next one.
func TestInterrupted(t *testing.T) {
	s := Store{t.TempDir()}
	part := filepath.Join(s.Dir, partName(about.Key())+"123")
	if err := os.Mkdir(part, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t.Context(), part)
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Broken == "" || list[0].Key != about.Key() || list[0].Bytes == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	use(t, s, write)
	if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestNoSpace(t *testing.T) {
	s := Store{t.TempDir()}
	_, _, err := s.Use(t.Context(), about, 1<<60, never)
	if !errors.Is(err, unix.ENOSPC) || hint.Of(err) == "" {
		t.Errorf("want no space and what to do, got %v (%s)", err, hint.Of(err))
	}
}

func TestTwoAtTheSameTime(t *testing.T) {
	s := Store{t.TempDir()}
	var built atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, _, err := s.Use(t.Context(), about, 0, func(ctx context.Context, dir string) (map[string]string, error) {
				built.Add(1)
				time.Sleep(20 * time.Millisecond)
				return write(ctx, dir)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := built.Load(); n != 1 {
		t.Errorf("built %d times", n)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	s := Store{t.TempDir()}
	_, _, err := s.Use(t.Context(), about, 0, func(ctx context.Context, dir string) (map[string]string, error) {
		inner, stop := context.WithTimeout(ctx, 10*time.Millisecond)
		defer stop()
		if _, _, err := s.Use(inner, about, 0, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		return write(ctx, dir)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPrune(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "cache")}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	set, _ := use(t, s, write)
	all := func(Entry) bool { return true }
	if gone, err := s.Prune(func(e Entry) bool { return e.Broken != "" }); err != nil || len(gone) != 0 {
		t.Errorf("%v, %v", gone, err)
	}
	release, err := set.Hold()
	if err != nil {
		t.Fatal(err)
	}
	// Another run can use a data set that is held, without waiting.
	if again, cached := use(t, s, write); !cached || again.Dir != set.Dir {
		t.Errorf("cached: %v, %s", cached, again.Dir)
	}
	if gone, err := s.Prune(all); err != nil || len(gone) != 0 {
		t.Errorf("a held one was removed: %v, %v", gone, err)
	}
	release()
	gone, err := s.Prune(all)
	if err != nil || len(gone) != 1 || gone[0].Bytes == 0 || gone[0].Used.IsZero() || gone[0].About.Version != about.Version {
		t.Errorf("%+v, %v", gone, err)
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestDefault(t *testing.T) {
	for _, c := range []struct {
		user            int
		xdg, home, want string
	}{
		{1000, "/x", "/home/u", "/x/tare/data"},
		{1000, "relative", "/home/u", "/home/u/.cache/tare/data"},
		{1000, "", "/home/u", "/home/u/.cache/tare/data"},
		{1000, "", "", ""},
		{0, "/x", "/home/u", "/x/tare/data"},
		{0, "", "/home/u", "/var/cache/tare/data"}, // sudo -E
		{0, "", "", "/var/cache/tare/data"},
	} {
		t.Setenv("XDG_CACHE_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		if s, err := storeOf(c.user); s.Dir != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %v, %v", c, s, err)
		}
	}
}

// A data set that another user could have written is not used: it names a program that root would start.
func TestOthersCache(t *testing.T) {
	testneed.Root(t)
	s := Store{filepath.Join(t.TempDir(), "data")}
	if _, cached := use(t, s, write); cached {
		t.Fatal("it was there")
	}
	for what, change := range map[string]func() error{
		"another user's":       func() error { return os.Chown(s.Dir, 12345, 12345) },
		"for others to write":  func() error { return os.Chmod(s.Dir, 0o777) },
		"below another user's": func() error { return os.Chown(filepath.Dir(s.Dir), 12345, 12345) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if set, _, err := s.Use(t.Context(), about, 0, write); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: used, %+v, %v", what, set, err)
		}
		if gone, err := s.Prune(func(Entry) bool { return true }); err == nil || hint.Of(err) == "" || len(gone) > 0 {
			t.Errorf("%s: removed %+v, %v", what, gone, err)
		}
		if err := errors.Join(os.Chown(s.Dir, 0, 0), os.Chmod(s.Dir, 0o700), os.Chown(filepath.Dir(s.Dir), 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if _, cached := use(t, s, write); !cached {
		t.Error("its own is not used again")
	}
}
