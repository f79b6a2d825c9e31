package host

import (
	"os"
	"path/filepath"
	"testing"
)

// F70: the directory of static pods may be a symlink.
func TestSwapInADirectoryThatIsASymlink(t *testing.T) {
	dir := t.TempDir()
	from, to := swapIn(t, dir)
	must(t, os.Rename(filepath.Dir(to), filepath.Join(dir, "elsewhere")))
	must(t, os.Symlink("elsewhere", filepath.Dir(to)))
	must(t, Save(filepath.Join(dir, "saved"), []string{to}))
	must(t, Stage(from, to, 0o755))
	must(t, MoveAside(to, sha(oldText)))
	must(t, Swap(to, sha(oldText), sha(newText)))
	wantText(t, filepath.Join(dir, "elsewhere", "kubelet"), newText)
	must(t, UndoSwap(to, sha(oldText), sha(newText)))
	wantText(t, filepath.Join(dir, "elsewhere", "kubelet"), oldText)
	must(t, DiscardPrevious(to))
	if link, err := os.Readlink(filepath.Dir(to)); err != nil || link != "elsewhere" {
		t.Errorf("the directory is %q, %v", link, err)
	}
}

// A swap needs the digest of what a symlink leads to.
func TestTargetOfASavedSymlinkIsSaved(t *testing.T) {
	root, saved, _ := etc(t, t.TempDir())
	link := filepath.Join(root, "link.conf")
	must(t, Save(saved, []string{link}))
	s := load(t, saved)
	if text, err := s.Read(link); err != nil || string(text) != "conf" || s.Digest(link) != sha("conf") {
		t.Errorf("%q %v, digest %s", text, err, s.Digest(link))
	}
	must(t, os.Remove(filepath.Join(root, "kubelet.conf")))
	other := saved + "-2"
	must(t, Save(other, []string{link}))
	if got := load(t, other).Digest(link); got != "" {
		t.Errorf("a dangling symlink has the digest %s", got)
	}
}
