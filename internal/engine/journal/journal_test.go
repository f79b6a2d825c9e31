package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const machine = "0123456789abcdef0123456789abcdef"

func opened() node.Record {
	return node.Record{At: time.Unix(1700000000, 0).UTC(), Kind: node.Opened, Upgrade: &node.Upgrade{MachineID: machine, From: "v1.35.4", To: "v1.36.3"}}
}

func started(step string) node.Record {
	return node.Record{At: time.Unix(1700000001, 5).UTC(), Kind: node.Started, Step: step}
}

// sample returns a journal of the first record and three more, and its text.
func sample(t *testing.T) (records []node.Record, text []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	j := create(t, path)
	appendAll(t, j, started("swap-kubelet"), node.Record{Kind: node.Done, Step: "swap-kubelet"}, started("restart-kubelet"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return j.Records(), text
}

func create(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Create(path, machine, opened())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func reopen(t *testing.T, j *Journal) *Journal {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(j.path, machine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func appendAll(t *testing.T, j *Journal, records ...node.Record) {
	t.Helper()
	for _, r := range records {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

// same compares records as they are written.
func same(t *testing.T, a, b []node.Record) bool {
	t.Helper()
	left, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	right, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(left, right)
}

func wantFailure(t *testing.T, err error, class refitv1alpha1.FailureClass, reason string) {
	t.Helper()
	var f *node.Failure
	if !errors.As(err, &f) || f.Class != class || f.Reason != reason || f.Remedy == "" {
		t.Fatalf("got %v (%+v), want %s %s", err, f, class, reason)
	}
}

func TestAppendedRecordsAreReadBack(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	failed := node.Record{Kind: node.Failed, Step: "x", Failure: node.Transient("Slow", errors.New("timeout"), "wait", "etcd is slow")}
	appendAll(t, j, started("x"), failed)
	before := j.Records()
	again := reopen(t, j)
	if !same(t, before, again.Records()) {
		t.Errorf("read back %+v, want %+v", again.Records(), before)
	}
	if got := before[2].Failure.Error(); got != "etcd is slow: timeout" {
		t.Errorf("the failure reads %q: the wrapped error is lost", got)
	}
	if failed.Failure.Message != "etcd is slow" {
		t.Error("the caller's failure was changed")
	}
	appendAll(t, again, started("y"))
	if got := reopen(t, again).Records(); len(got) != 4 || got[3].Step != "y" {
		t.Errorf("after a second opening: %+v", got)
	}
}

func TestRecordsBelongToTheCaller(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	j.Records()[0].Kind = node.Finished
	if j.Records()[0].Kind != node.Opened {
		t.Error("a caller changed the journal's records")
	}
}

func TestExistingJournalIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := create(t, path)
	appendAll(t, j, started("x"))
	if _, err := Create(path, machine, opened()); !errors.Is(err, os.ErrExist) {
		t.Fatalf("got %v, want os.ErrExist", err)
	}
	if got := reopen(t, j).Records(); len(got) != 2 {
		t.Errorf("%d records are left, want 2", len(got))
	}
}

func TestMissingJournal(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "journal"), machine); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
}

func TestLeftoverOfAKilledCreateIsReplaced(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, ".journal.refit-tmp")); err != nil {
		t.Fatal(err)
	}
	create(t, filepath.Join(dir, "journal"))
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the link was followed: %q %v", text, err)
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := create(t, path)
	_, err := Open(path, machine)
	wantFailure(t, err, refitv1alpha1.FailureTransient, "JournalInUse")

	// The reader comes during a write.
	if _, err := j.file.WriteAt([]byte("0badc0de {\"half"), j.size); err != nil {
		t.Fatal(err)
	}
	records, err := Read(path, machine)
	if err != nil || len(records) != 1 {
		t.Fatalf("read %+v, %v", records, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != j.size+15 {
		t.Error("the reader changed the journal")
	}
}

// An agent that is replaced during an upgrade leaves a journal of its own format.
func TestJournalOfAnOlderFormatIsRefusedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	older := append(sum([]byte(`{"refitJournal":1,"machineID":"`+machine+`"}`)), sum([]byte(`{"at":"2023-11-14T22:13:20Z","kind":"Opened"}`))...)
	if err := os.WriteFile(path, older, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, machine)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "JournalTooOld")
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, older) {
		t.Error("the older journal was changed")
	}
}

func TestJournalOfAnotherMachineOrANewerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	_ = create(t, path).Close()
	_, err := Open(path, strings.Repeat("f", 32))
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "JournalOfAnotherMachine")

	newer := append(sum([]byte(`{"refitJournal":3,"machineID":"`+machine+`","and":"more"}`)), "a later format\n"...)
	if err := os.WriteFile(path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, machine)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "JournalTooNew")
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, newer) {
		t.Error("the newer journal was changed")
	}
	if _, err := Create(path+"2", "", opened()); err == nil {
		t.Error("a journal without a machine ID was created")
	}
}

func TestFailedWriteStopsTheJournalUntilItIsReopened(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	writable := j.file
	readOnly, err := os.Open(j.path)
	if err != nil {
		t.Fatal(err)
	}
	j.file = readOnly
	if err := j.Append(node.Record{Kind: node.Failed}); err == nil {
		t.Fatal("a failed write returned no error")
	}
	j.file = writable
	if !j.Broken() {
		t.Error("Broken reports false")
	}
	if err := j.Append(started("x")); !errors.Is(err, ErrClosed) || !errors.Is(err, unix.EBADF) {
		t.Errorf("it accepts records: %v", err)
	}
	readOnly.Close()
	again := reopen(t, j)
	if again.Broken() || !j.Broken() {
		t.Errorf("reopened: %t, the former: %t", again.Broken(), j.Broken())
	}
	appendAll(t, again, started("x"))
}

func TestFailedSyncStopsTheJournal(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	restore := durabletest.FailFiles(t, unix.EIO)
	wantFailure(t, j.Append(started("x")), refitv1alpha1.FailureHostBroken, "DiskBroken")
	restore()
	if err := j.Append(started("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("it accepts records: %v", err)
	}
	if len(j.Records()) != 1 {
		t.Error("a record counts that may not be on disk")
	}
}

func TestClosedJournalRefusesRecords(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(started("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if j.Broken() {
		t.Error("Broken reports true for a closed journal")
	}
}

func TestLongLogIsShortened(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	failure := node.HostBroken("X", nil, "r", "m")
	failure.LogTail = strings.Repeat("<\x00", 1<<16) + "the last line"
	appendAll(t, j, node.Record{Kind: node.Failed, Failure: failure})
	failure.Message, failure.LogTail = strings.Repeat("m", 1<<17), ""
	appendAll(t, j, node.Record{Kind: node.Failed, Failure: failure})

	got := reopen(t, j).Records()
	if len(got) != 3 || !strings.HasSuffix(got[1].Failure.LogTail, "the last line") || !strings.HasPrefix(got[2].Failure.Message, "mmm") {
		t.Fatalf("%d records", len(got))
	}
	for _, r := range got {
		if text, err := json.Marshal(r); err != nil || len(text) > MaxRecord {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
}

func TestTooLargeRecordIsRefused(t *testing.T) {
	j := create(t, filepath.Join(t.TempDir(), "journal"))
	if err := j.Append(started(strings.Repeat("s", MaxRecord))); err == nil {
		t.Fatal("it was accepted")
	}
	if j.Broken() {
		t.Error("Broken reports true")
	}
	appendAll(t, j, started("x"))
	if got := reopen(t, j).Records(); len(got) != 2 {
		t.Errorf("%d records, want 2", len(got))
	}
}

func TestFullJournalAcceptsARollback(t *testing.T) {
	withoutSync(t)
	j := create(t, filepath.Join(memory(t), "journal"))
	long := strings.Repeat("s", 60<<10)
	var err error
	for range 100 {
		if err = j.Append(started(long)); err != nil {
			break
		}
	}
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "JournalFull")
	undone := 0
	for range 100 {
		if err = j.Append(node.Record{Kind: node.Undone, Step: long}); err != nil {
			break
		}
		undone++
	}
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "JournalFull")
	if undone < 8 {
		t.Errorf("only %d records of a rollback", undone)
	}
	if info, err := os.Stat(j.path); err != nil || info.Size() > MaxSize {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	n := len(j.Records())
	if got := reopen(t, j).Records(); len(got) != n {
		t.Errorf("%d records, want %d", len(got), n)
	}
}

func TestFilesThatAreNotJournalsAreRefused(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	_, err := Open(large, machine)
	wantFailure(t, err, refitv1alpha1.FailureHostBroken, "JournalDamaged")
	if err := os.Symlink(large, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "."} {
		if _, err := Open(filepath.Join(dir, name), machine); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	j, err := Create(filepath.Join(dir, "journal"), machine, node.Record{At: time.Unix(1700000000, 0).UTC(), Kind: node.Opened})
	if err != nil {
		panic(err)
	}
	defer j.Close()
	text, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil {
		panic(err)
	}
	fmt.Print(string(text))
	// Output:
	// 5d8067a3 {"refitJournal":2,"machineID":"0123456789abcdef0123456789abcdef"}
	// 5876509c {"at":"2023-11-14T22:13:20Z","kind":"Opened"}
}
