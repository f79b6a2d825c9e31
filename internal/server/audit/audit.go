// Package audit writes and verifies the audit log: a line of JSON for each sign-in and each write,
// durable before the caller is answered. Each line has the hash of the line before, so that a
// change of an earlier line shows.
package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable"
)

const (
	fileName = "audit.jsonl"
	mode     = fs.FileMode(0o600)
	// maxBytes is the size at which a log is continued in another file. One old file is kept.
	maxBytes = 16 << 20
	maxLine  = 64 << 10
	// maxField is the maximum length of a field that callers choose. Longer ones are cut off: an
	// entry must not be lost because of its content.
	maxField = 1 << 10
)

// Entry is what somebody did, or was refused.
type Entry struct {
	Time      time.Time `json:"time"`
	Sequence  int64     `json:"sequence"`
	RequestID string    `json:"requestId,omitempty"`
	User      string    `json:"user,omitempty"`
	Remote    string    `json:"remote,omitempty"`
	Action    string    `json:"action"`
	Object    string    `json:"object,omitempty"`
	Result    string    `json:"result"`           // a status of HTTP, and the code of a problem
	Detail    string    `json:"detail,omitempty"` // such as the hash of an approved plan
	// Previous is the hash of the line before, and Hash that of this line without it.
	Previous string `json:"previous"`
	Hash     string `json:"hash,omitempty"`
}

// Log is an audit log. Its methods are safe for concurrent use.
type Log struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	file     *os.File
	size     int64
	sequence int64
	last     string // the hash of the last line
	broken   error  // why the chain is broken, nil if it is not
}

// Open opens the log in a directory, whose path is absolute. A line that a crash cut off is
// removed. A log whose chain is broken is continued, and reports it.
func Open(directory string, now func() time.Time) (*Log, error) {
	l := &Log{path: filepath.Join(directory, fileName), now: now}
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, mode)
	if err != nil {
		return nil, fmt.Errorf("cannot open the audit log: %w", err)
	}
	if err := errors.Join(file.Chmod(mode), durable.SyncDir(directory)); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the audit log: %w", err), file.Close())
	}
	l.file = file
	if err := l.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot continue the audit log %s: %w", l.path, err), file.Close())
	}
	return l, nil
}

// resume verifies the chain and removes a line that was not written to its end.
func (l *Log) resume() error {
	complete, err := l.verify(l.file)
	if err != nil {
		return err
	}
	if complete == 0 {
		if err := l.resumeOld(); err != nil {
			return err
		}
	}
	if err := l.file.Truncate(complete); err != nil {
		return err
	}
	if _, err := l.file.Seek(complete, io.SeekStart); err != nil {
		return err
	}
	l.size = complete
	return durable.Sync(l.file)
}

// resumeOld continues the chain of the old file: a crash came between its rename and the first line
// of the next one.
func (l *Log) resumeOld() error {
	old, err := os.Open(l.oldPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer old.Close()
	_, err = l.verify(old)
	return err
}

func (l *Log) oldPath() string { return l.path + ".1" }

// verify reads all lines of a file, and returns the size of the complete ones.
func (l *Log) verify(file io.Reader) (complete int64, err error) {
	reader := bufio.NewReaderSize(file, maxLine)
	for first := true; ; first = false {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return complete, nil
		}
		if err != nil {
			return complete, err
		}
		complete += int64(len(line))
		entry, hash, err := decode(line)
		switch {
		case err != nil:
			l.breakAt(entry.Sequence, err)
		case entry.Hash != hash:
			l.breakAt(entry.Sequence, errors.New("it was changed"))
		case !first && entry.Previous != l.last:
			l.breakAt(entry.Sequence, errors.New("the line before it was changed or removed"))
		}
		l.last, l.sequence = entry.Hash, entry.Sequence
	}
}

func (l *Log) breakAt(sequence int64, cause error) {
	if l.broken == nil {
		l.broken = fmt.Errorf("line %d of the audit log does not match: %w", sequence, cause)
	}
}

// decode returns an entry and the hash that it should have.
func decode(line []byte) (entry Entry, hash string, err error) {
	if err := json.Unmarshal(line, &entry); err != nil {
		return entry, "", err
	}
	unhashed := entry
	unhashed.Hash = ""
	hash, err = hashOf(&unhashed)
	return entry, hash, err
}

func hashOf(entry *Entry) (string, error) {
	content, err := json.Marshal(entry)
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), err
}

// Write appends an entry. It returns once the entry is durable.
func (l *Log) Write(entry Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size >= maxBytes {
		if err := l.rotate(); err != nil {
			return fmt.Errorf("cannot continue the audit log in another file: %w", err)
		}
	}
	entry.User, entry.Object, entry.Detail = cut(entry.User), cut(entry.Object), cut(entry.Detail)
	entry.Time, entry.Sequence, entry.Previous, entry.Hash = l.now().UTC(), l.sequence+1, l.last, ""
	hash, err := hashOf(&entry)
	if err != nil {
		return err
	}
	entry.Hash = hash
	line, err := json.Marshal(&entry)
	if err != nil {
		return err
	}
	if len(line) >= maxLine {
		return errors.New("cannot write the audit log: the entry is too large")
	}
	return l.append(append(line, '\n'), hash)
}

// cut cuts off the end of a long field, and replaces bytes that are not UTF-8: JSON would replace
// them, and the hash would not match.
func cut(text string) string {
	if len(text) > maxField {
		text = text[:maxField] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}

// append writes a line. One that cannot be written to its end is removed.
func (l *Log) append(line []byte, hash string) error {
	_, err := l.file.Write(line)
	if err == nil {
		err = durable.Sync(l.file)
	}
	if err != nil {
		_, seek := l.file.Seek(l.size, io.SeekStart)
		return errors.Join(fmt.Errorf("cannot write the audit log: %w", err), l.file.Truncate(l.size), seek)
	}
	l.size, l.sequence, l.last = l.size+int64(len(line)), l.sequence+1, hash
	return nil
}

// rotate continues the log in an empty file. It can be repeated after a failure.
func (l *Log) rotate() error {
	if err := durable.Rename(l.path, l.oldPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if err != nil {
		return err
	}
	_ = l.file.Close() // its lines are durable
	l.file, l.size = file, 0
	return durable.SyncDir(filepath.Dir(l.path))
}

// Last returns the last entries of the current file, the newest first, and why the chain is broken.
func (l *Log) Last(most int) (entries []Entry, broken, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	content := make([]byte, l.size)
	if _, err := l.file.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	entries = []Entry{}
	content = bytes.TrimSuffix(content, []byte("\n"))
	for len(content) > 0 && len(entries) < most {
		at := bytes.LastIndexByte(content, '\n')
		if entry, _, err := decode(content[at+1:]); err == nil {
			entries = append(entries, entry)
		}
		content = content[:max(at, 0)]
	}
	return entries, l.broken, nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
