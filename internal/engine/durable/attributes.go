package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// Attributes are the mode, the owner and the extended attributes of a file. Its ACL and its SELinux
// label are extended attributes.
type Attributes struct {
	Mode  fs.FileMode
	Owner Owner
	// Xattrs are nil if they are unknown: a file then has those of the file that it replaces.
	Xattrs Xattrs
	// inherits keeps the ACL that a new file got from its directory.
	inherits bool
}

// Xattrs are extended attributes by name.
type Xattrs map[string][]byte

// Equal reports whether two files have the same extended attributes.
func (x Xattrs) Equal(other Xattrs) bool { return maps.EqualFunc(x, other, bytes.Equal) }

// CapabilityXattr has the capabilities of a binary.
const CapabilityXattr = "security.capability"

const (
	aclXattr   = "system.posix_acl_access"
	labelXattr = "security.selinux"

	modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
)

// bound are the attributes that belong to one content or inode. A copy of them would make the
// kernel refuse the file.
var bound = []string{"security.ima", "security.evm"}

// AttributesOf returns the attributes of a file, and follows symlinks. On a file system without
// extended attributes there are none.
func AttributesOf(path string) (Attributes, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Attributes{}, err
	}
	found, err := xattrsOf(path)
	return Attributes{Mode: info.Mode() & modeBits, Owner: OwnerOf(info), Xattrs: found}, err
}

// AttributesFor returns the attributes for a file of the host that is about to be written: those of
// the file that it replaces. A new file gets the mode, and the SELinux label of the host's policy.
func AttributesFor(path string, mode fs.FileMode) (Attributes, error) {
	found, err := AttributesOf(path)
	if !errors.Is(err, os.ErrNotExist) {
		return found, err
	}
	found = Attributes{Mode: mode, Owner: Caller, Xattrs: Xattrs{}, inherits: true}
	if label := policyLabel(path); label != nil {
		found.Xattrs[labelXattr] = label
	}
	return found, nil
}

// SetAttributes gives a file attributes, durably. Like every function of this package it skips an
// extended attribute that the file system or the security policy rejects; Missing finds those.
func SetAttributes(path string, attributes Attributes) error {
	file, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return err
	}
	return errors.Join(attributes.set(file), file.Close())
}

// set changes only what differs: chown would clear the setuid bits and the capabilities of a file
// in use.
func (a Attributes) set(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if a.Owner != Caller && a.Owner != OwnerOf(info) {
		if err := file.Chown(a.Owner.UID, a.Owner.GID); err != nil {
			return err
		}
	}
	if a.Xattrs != nil { // After chown, which removes capabilities.
		if err := setXattrs(file, a.Xattrs, a.inherits); err != nil {
			return err
		}
	}
	if err := a.setMode(file); err != nil {
		return err
	}
	return Sync(file)
}

// setMode follows chown, which clears the setuid bits, and the ACL: its mask is the mode of the
// group, which without the ACL would allow more. The permissions of a file with an ACL are those of
// the ACL.
func (a Attributes) setMode(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	now, mode := info.Mode()&modeBits, a.Mode
	if want := a.Xattrs[aclXattr]; want != nil {
		found, err := xattrsOfOpen(file)
		if err != nil {
			return err
		}
		if bytes.Equal(found[aclXattr], want) {
			mode = a.Mode&^fs.ModePerm | now.Perm()
		}
	}
	if mode == now {
		return nil
	}
	return file.Chmod(mode)
}

// Missing describes the attributes that another file lacks or has with another value.
func (a Attributes) Missing(in Attributes) []string {
	var missing []string
	if a.Mode != in.Mode {
		missing = append(missing, fmt.Sprintf("mode %v, not %v", in.Mode, a.Mode))
	}
	if a.Owner != Caller && a.Owner != in.Owner {
		missing = append(missing, fmt.Sprintf("owner %d:%d, not %d:%d", in.Owner.UID, in.Owner.GID, a.Owner.UID, a.Owner.GID))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Xattrs)) {
		if value, found := in.Xattrs[name]; !found || !bytes.Equal(value, a.Xattrs[name]) {
			missing = append(missing, name)
		}
	}
	return missing
}
