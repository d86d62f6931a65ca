package clonetree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Give makes what is at these names below an open directory another user's, a directory
// with all that is in it: its entries first, itself last. A name that is not there is
// left out. It follows no link out of the open directory, whoever can write in it.
func Give(root *os.Root, uid, gid int, names ...string) error {
	for _, top := range names {
		var dirs []string
		err := fs.WalkDir(root.FS(), top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir():
				dirs = append(dirs, name)
				return nil
			}
			return root.Lchown(name, uid, gid)
		})
		for _, name := range slices.Backward(dirs) {
			if err == nil {
				err = root.Lchown(name, uid, gid)
			}
		}
		if err != nil {
			return fmt.Errorf("give %s to user %d: %w", root.Name(), uid, err)
		}
	}
	return nil
}

// GiveAll gives a directory that only this user can have changed until now.
func GiveAll(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("give %s to user %d: %w", dir, uid, err)
	}
	defer root.Close()
	return Give(root, uid, gid, ".")
}
