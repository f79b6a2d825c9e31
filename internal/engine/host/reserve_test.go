package host

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/test/disk"
)

func TestReserveAllocatesAndReleasesDiskSpace(t *testing.T) {
	d := disk.New(t)
	free := func() uint64 {
		f, err := Free(filepath.Join(d.Dir, "not", "there", "yet"))
		must(t, err)
		return f.Bytes
	}
	before, path := free(), filepath.Join(d.Dir, "reserve")
	must(t, Reserve(path, 4<<20))
	if held := before - free(); held < 4<<20 {
		t.Errorf("%d bytes are held", held)
	}
	must(t, Reserve(path, 5<<20)) // A larger reserve is needed now.
	if held := before - free(); held < 5<<20 {
		t.Errorf("%d bytes are held", held)
	}
	must(t, ReleaseReserve(path))
	if after := free(); after < before-(64<<10) {
		t.Errorf("%d bytes are free, %d were", after, before)
	}
	wantFailure(t, Reserve(path, 64<<20), refitv1alpha1.FailureManualIntervention, "DiskFull")
	wantText(t, path, "absent")
}

func TestSparseFileIsNoReserve(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "reserve")
	put(t, path, "", 0o600)
	must(t, os.Truncate(path, 4<<20))
	before, err := Free(d.Dir)
	must(t, err)
	must(t, Reserve(path, 4<<20))
	after, err := Free(d.Dir)
	must(t, err)
	if before.Bytes-after.Bytes < 4<<20 {
		t.Error("the hole was taken for a reserve")
	}
}

func TestFreeSpaceReportsAReadOnlyFileSystem(t *testing.T) {
	d := disk.New(t)
	free, err := Free(d.Dir)
	if err != nil || free.ReadOnly || free.Bytes < 1<<20 || free.InodesPercent < 50 || free.InodesPercent > 100 {
		t.Errorf("%+v %v", free, err)
	}
	d.ReadOnly(t)
	if free, err := Free(d.Dir); err != nil || !free.ReadOnly {
		t.Errorf("%+v %v", free, err)
	}
	wantFailure(t, durable.WriteFile(filepath.Join(d.Dir, "x"), nil, 0o600), refitv1alpha1.FailureHostBroken, "DiskBroken")
}
