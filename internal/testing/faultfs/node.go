package faultfs

import (
	"context"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is a file or directory behind the file system, whose changes are counted.
type node struct {
	*fs.LoopbackNode
	fs *FS
}

func (f *FS) root() (fs.InodeEmbedder, error) {
	root, err := fs.NewLoopbackRoot(f.Backing)
	if err != nil {
		return nil, err
	}
	return &node{root.(*fs.LoopbackNode), f}, nil
}

// WrapChild makes the children of a directory nodes too.
func (n *node) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{child.(*fs.LoopbackNode), n.fs}
}

// path is relative to the root of the file system.
func (n *node) path() string { return n.Path(n.Root()) }

func (n *node) below(name string) string { return filepath.Join(n.path(), name) }

// file hides the interface by which the kernel could write to the file behind directly.
type file struct{ *fs.LoopbackFile }

func (file) PassthroughFd() (int, bool) { return 0, false }

func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, with, errno := n.LoopbackNode.Open(ctx, flags)
	if l, ok := h.(*fs.LoopbackFile); ok {
		h = file{l}
	}
	return h, with, errno
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.fs.count(Create, n.below(name)); errno != 0 {
		return nil, nil, 0, errno
	}
	inode, h, with, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	if l, ok := h.(*fs.LoopbackFile); ok {
		h = file{l}
	}
	return inode, h, with, errno
}

func (n *node) Mknod(ctx context.Context, name string, mode, dev uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.fs.count(Create, n.below(name)); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Mknod(ctx, name, mode, dev, out)
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.fs.count(Mkdir, n.below(name)); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	if errno := n.fs.count(Unlink, n.below(name)); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Unlink(ctx, name)
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	if errno := n.fs.count(Unlink, n.below(name)); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Rmdir(ctx, name)
}

func (n *node) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if errno := n.fs.count(Rename, n.below(name)); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Rename(ctx, name, to, newName, flags)
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.fs.count(Link, n.below(name)); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Link(ctx, target, name, out)
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.fs.count(Link, n.below(name)); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Symlink(ctx, target, name, out)
}

func (n *node) Write(ctx context.Context, h fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	if errno := n.fs.count(Write, n.path()); errno != 0 {
		return 0, errno
	}
	return h.(fs.FileWriter).Write(ctx, data, off)
}

// Fsync is also that of a directory, whose handle has another method for it.
func (n *node) Fsync(ctx context.Context, h fs.FileHandle, flags uint32) syscall.Errno {
	if errno := n.fs.count(Sync, n.path()); errno != 0 {
		return errno
	}
	if errno := h.(fs.FileFsyncer).Fsync(ctx, flags); errno != 0 {
		return errno
	}
	n.fs.didSync(n.path())
	return 0
}

func (n *node) Allocate(ctx context.Context, h fs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	if errno := n.fs.count(Resize, n.path()); errno != 0 {
		return errno
	}
	return h.(fs.FileAllocater).Allocate(ctx, off, size, mode)
}

func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if _, resized := in.GetSize(); resized {
		if errno := n.fs.count(Resize, n.path()); errno != 0 {
			return errno
		}
	}
	return n.LoopbackNode.Setattr(ctx, h, in, out)
}

// OpendirHandle opens a directory whose syncs are counted.
func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, with, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return directory{h.(stream), n}, with, 0
}

// stream is an open directory behind the file system.
type stream interface {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
	fs.FileFsyncdirer
}

type directory struct {
	stream
	n *node
}

func (d directory) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	if errno := d.n.fs.count(Sync, d.n.path()); errno != 0 {
		return errno
	}
	return d.stream.Fsyncdir(ctx, flags)
}
