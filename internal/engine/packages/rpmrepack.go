package packages

import (
	"compress/gzip"
	"context"
	"crypto/md5"  //nolint:gosec // rpm's own format; nothing is trusted because of it
	"crypto/sha1" //nolint:gosec // rpm's own format; nothing is trusted because of it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// The attributes of a file in an rpm package.
const (
	fileIsConfig  = 1 << 0
	fileNoReplace = 1 << 4
	fileIsGhost   = 1 << 6 // listed in the package, but not in its payload
)

// typeMask has the bits of a file's type in its mode.
const (
	typeMask    = 0o170000
	typeDir     = 0o040000
	typeRegular = 0o100000
	typeLink    = 0o120000
)

// repack builds a package file from an installed package, so that a host without any repository can
// be rolled back.
//
//  1. The header: rpm's database keeps the one of the original package, with its scripts.
//  2. The payload: every file that the package owns, as it is on the disk.
//  3. Digests of both. The signature of the vendor does not fit any more and is left out.
func (r rpm) repack(ctx context.Context, work, name string) (string, error) {
	h, err := r.installedHeader(ctx, name)
	if err != nil {
		return "", err
	}
	files, err := newFileList(h)
	if err != nil {
		return "", fmt.Errorf("cannot read the header of %s: %w", name, err)
	}
	if err := r.omitted(ctx, name, files); err != nil {
		return "", err
	}
	payload := filepath.Join(work, "payload")
	sum, err := r.writePayload(ctx, payload, files)
	if err != nil {
		return "", err
	}
	files.store(h)
	h.setText(tagPayloadFormat, "cpio")
	h.setText(tagCompressor, "gzip")
	h.setText(tagPayloadFlags, "1")
	h.setTexts(tagPayloadDigest, []string{sum})
	h.setNumbers(tagPayloadAlgo, digestSHA256)
	delete(h, tagPayloadAlt)
	packed := filepath.Join(work, "repacked.rpm")
	return packed, writePackage(packed, name, h, payload)
}

// installedHeader returns the header of the package that name was installed from: the immutable
// region, without what rpm added at installation.
func (r rpm) installedHeader(ctx context.Context, name string) (header, error) {
	out, err := r.query(ctx, "--query", "--queryformat", "%{HEADERIMMUTABLE:base64}", "--", name)
	if err != nil {
		return nil, wrap(err, "cannot read the header of %s", name)
	}
	text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(out, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("cannot read the header of %s: %w", name, err)
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the header of %s: %w", name, err)
	}
	if _, newer := h[tagPackageFormat]; newer {
		return nil, fmt.Errorf("cannot repack %s: only packages of rpm format 4 are supported", name)
	}
	return h, nil
}

// omitted marks the files that rpm did not install (documentation, languages, other
// architectures), or that another package replaced.
func (r rpm) omitted(ctx context.Context, name string, files *fileList) error {
	out, err := r.query(ctx, "--query", "--queryformat", `[%{FILESTATES}\n]`, "--", name)
	if err != nil {
		return wrap(err, "cannot list the files of %s", name)
	}
	for i, state := range strings.Fields(out) {
		if state != "0" && i < len(files.paths) {
			files.flags[i] |= fileIsGhost
		}
	}
	return nil
}

// fileList is the list of files in a header.
type fileList struct {
	paths                         []string
	modes, sizes, mtimes, flags   []uint64
	digests, links, users, groups []string
	digestAlgo                    uint64
}

func newFileList(h header) (*fileList, error) {
	l := &fileList{
		modes: h.numbers(tagFileModes), sizes: h.numbers(tagFileSizes), mtimes: h.numbers(tagFileMtimes), flags: h.numbers(tagFileFlags),
		digests: h.texts(tagFileDigests), links: h.texts(tagFileLinks), users: h.texts(tagFileUsers), groups: h.texts(tagFileGroups),
		digestAlgo: digestMD5,
	}
	if long := h.numbers(tagLongFileSizes); len(long) > 0 {
		l.sizes = long
	}
	if algo := h.numbers(tagDigestAlgo); len(algo) > 0 { // nfpm writes one per file; rpm reads the first
		l.digestAlgo = algo[0]
	}
	if newDigest(l.digestAlgo) == nil {
		return nil, fmt.Errorf("unknown digest algorithm %d", l.digestAlgo)
	}
	dirs, indexes := h.texts(tagDirNames), h.numbers(tagDirIndexes)
	for i, base := range h.texts(tagBaseNames) {
		if i >= len(indexes) || indexes[i] >= uint64(len(dirs)) {
			return nil, errors.New("a file without a directory")
		}
		l.paths = append(l.paths, dirs[indexes[i]]+base)
	}
	for _, n := range []int{
		len(l.modes), len(l.sizes), len(l.mtimes), len(l.flags), len(l.digests), len(l.links), len(l.users), len(l.groups),
	} {
		if n != len(l.paths) {
			return nil, errors.New("the lists of files differ in length")
		}
	}
	return l, nil
}

// store writes the list to the header. Each file gets an inode of its own: the payload has no hard
// links.
func (l *fileList) store(h header) {
	if len(l.paths) == 0 {
		return
	}
	inodes, devices := make([]uint64, len(l.paths)), make([]uint64, len(l.paths))
	for i := range l.paths {
		inodes[i], devices[i] = uint64(i+1), 1
	}
	sizes := uint32(tagFileSizes)
	if _, long := h[tagLongFileSizes]; long {
		sizes = tagLongFileSizes
	}
	for tag, numbers := range map[uint32][]uint64{
		sizes: l.sizes, tagFileModes: l.modes, tagFileMtimes: l.mtimes, tagFileFlags: l.flags, tagFileInodes: inodes, tagFileDevices: devices,
	} {
		h.setNumbers(tag, numbers...)
	}
	for tag, texts := range map[uint32][]string{
		tagFileDigests: l.digests, tagFileLinks: l.links, tagFileUsers: l.users, tagFileGroups: l.groups,
	} {
		h.setTexts(tag, texts)
	}
}

// writePayload writes the files of a package as a compressed cpio archive, and their attributes to
// the list. It returns the digest of the archive.
func (r rpm) writePayload(ctx context.Context, path string, files *fileList) (sum string, err error) {
	digest := sha256.New()
	write := func(out *os.File) error {
		packed, err := gzip.NewWriterLevel(io.MultiWriter(out, digest), gzip.BestSpeed) // it is read once, or never
		if err != nil {
			return err
		}
		archive := &cpioWriter{out: packed}
		for i := range files.paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.packFile(archive, files, i); err != nil {
				return err
			}
		}
		if err := archive.Close(); err != nil {
			return err
		}
		return packed.Close()
	}
	if err := durable.Create(path, durable.Attributes{Mode: 0o600}, write); err != nil {
		return "", fmt.Errorf("cannot pack installed files: %w", err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// packFile adds a file to the payload. A file that is not on the disk becomes a ghost, and so does
// a configuration file that was changed: rpm then keeps the file and compares it with the original
// digest in the next upgrade. Of the two, only the changed file is marked as fileNoReplace:
// restoreConfig restores it.
func (r rpm) packFile(archive *cpioWriter, files *fileList, i int) error {
	if files.flags[i]&fileIsGhost != 0 {
		return nil
	}
	path := r.onDisk(files.paths[i])
	info, err := os.Lstat(path)
	if err == nil && files.modes[i]&typeMask == typeDir {
		info, err = os.Stat(path) // a host can have a link instead (/lib)
	}
	if errors.Is(err, fs.ErrNotExist) {
		files.flags[i] = files.flags[i]&^fileNoReplace | fileIsGhost
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read an installed file: %w", err)
	}
	if files.flags[i]&fileIsConfig != 0 {
		files.flags[i] |= fileNoReplace // a later change of the operator survives the rollback
	}
	changed, err := files.changedConfig(i, path, info)
	if err != nil {
		return err
	}
	if changed {
		files.flags[i] |= fileIsGhost
		return nil
	}
	files.describe(i, info)
	switch {
	case info.IsDir() && files.modes[i]&typeMask == typeDir:
		return archive.add(files, i, 0, nil)
	case info.Mode().Type() == fs.ModeSymlink:
		return files.packLink(archive, i, path)
	case info.Mode().IsRegular():
		return files.packRegular(archive, i, path, info.Size())
	}
	return fmt.Errorf("%s is not a file, directory or link", path)
}

// changedConfig reports whether an installed file is configuration that differs from its package.
func (l *fileList) changedConfig(i int, path string, info fs.FileInfo) (bool, error) {
	if l.flags[i]&fileIsConfig == 0 || l.modes[i]&typeMask != typeRegular {
		return false, nil
	}
	if !info.Mode().IsRegular() {
		return true, nil
	}
	sum, err := digestOf(path, l.digestAlgo)
	return sum != l.digests[i], err
}

// describe takes the attributes of an installed file into the list.
func (l *fileList) describe(i int, info fs.FileInfo) {
	mode := uint64(info.Mode().Perm())
	for bit, value := range map[fs.FileMode]uint64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&bit != 0 {
			mode |= value
		}
	}
	switch {
	case info.IsDir():
		mode |= typeDir
	case info.Mode().Type() == fs.ModeSymlink:
		mode |= typeLink
	default:
		mode |= typeRegular
	}
	l.modes[i], l.mtimes[i] = mode, uint64(max(info.ModTime().Unix(), 0))
	owner := durable.OwnerOf(info)
	if u, err := user.LookupId(strconv.Itoa(owner.UID)); err == nil {
		l.users[i] = u.Username
	}
	if g, err := user.LookupGroupId(strconv.Itoa(owner.GID)); err == nil {
		l.groups[i] = g.Name
	}
}

func (l *fileList) packLink(archive *cpioWriter, i int, path string) error {
	target, err := os.Readlink(path)
	if err != nil {
		return fmt.Errorf("cannot read an installed file: %w", err)
	}
	l.links[i], l.digests[i], l.sizes[i] = target, "", uint64(len(target))
	return archive.add(l, i, int64(len(target)), strings.NewReader(target))
}

func (l *fileList) packRegular(archive *cpioWriter, i int, path string, size int64) error {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read an installed file: %w", err)
	}
	defer func() { _ = in.Close() }()
	digest := newDigest(l.digestAlgo)
	l.sizes[i] = uint64(size)
	l.links[i] = ""
	if err := archive.add(l, i, size, io.TeeReader(in, digest)); err != nil {
		return err
	}
	l.digests[i] = hex.EncodeToString(digest.Sum(nil))
	return nil
}

// The algorithms of digests, as OpenPGP numbers them.
const (
	digestMD5    = 1
	digestSHA256 = 8
)

// newDigest returns nil for an unknown algorithm.
func newDigest(algo uint64) hash.Hash {
	switch algo {
	case digestMD5:
		return md5.New() //nolint:gosec // rpm's own format
	case 2:
		return sha1.New() //nolint:gosec // rpm's own format
	case digestSHA256:
		return sha256.New()
	case 9:
		return sha512.New384()
	case 10:
		return sha512.New()
	case 11:
		return sha256.New224()
	}
	return nil
}

func digestOf(path string, algo uint64) (string, error) {
	digest := newDigest(algo)
	if digest == nil {
		return "", fmt.Errorf("unknown digest algorithm %d", algo)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read an installed file: %w", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := io.Copy(digest, f); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
