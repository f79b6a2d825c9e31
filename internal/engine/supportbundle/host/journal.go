package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/engine/supportbundle/journald"
	"github.com/refit-dev/refit/internal/upgrade/plaintext"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

func part(path, source string) cliv1alpha1.BundlePart {
	return cliv1alpha1.BundlePart{Path: path, Source: source}
}

func copyFile(to io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// journalFile is a file with entries of the system's units.
type journalFile struct {
	path       string
	head, tail time.Time
}

// journals returns the journal of each unit.
func (r *Reader) journals(ctx context.Context, o Options, limit int64) []archive.Part {
	files, problems, err := r.journalFiles(o.Window)
	units := map[string]*unit{}
	names := supportbundle.Units()
	for _, name := range names {
		units[name] = &unit{text: archive.NewText(o.Redact, limit/int64(len(names))), redact: o.Redact, counts: redact.Counts{}}
	}
	for i, file := range files {
		if err != nil {
			break
		}
		o.Report(fmt.Sprintf("journal, file %d of %d", i+1, len(files)))
		var found journald.Problems
		found, err = read(ctx, file.path, o.Window, names, units)
		problems.Add(found)
	}
	var out []archive.Part
	for _, name := range names {
		out = append(out, units[name].part(name, problems, err))
	}
	return out
}

// journalFiles returns the files with entries of a time, in the order of their first entries.
func (r *Reader) journalFiles(w supportbundle.Window) (out []journalFile, problems journald.Problems, err error) {
	found := 0
	for _, dir := range journalDirs {
		// A file that journald could not close properly ends with a tilde.
		for _, pattern := range []string{"*/system*.journal", "*/system*.journal~"} {
			paths, err := filepath.Glob(filepath.Join(r.path(dir), pattern))
			if err != nil {
				return nil, problems, err
			}
			for _, path := range paths {
				found++
				file, err := span(path)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					continue // journald has rotated it
				case errors.Is(err, fs.ErrPermission):
					return nil, problems, supportbundle.Fail(supportbundle.ReasonNoJournal, "cannot read the journal: %v", err)
				case err != nil:
					problems.Add(journald.Problems{Damaged: 1, First: fmt.Errorf("%s: %w", filepath.Base(path), err)})
					continue
				}
				// The tail of a file that journald writes to may be older than its last entry.
				online := filepath.Base(path) == "system.journal"
				if !file.head.After(w.Until) && (online || !file.tail.Before(w.Since)) {
					out = append(out, file)
				}
			}
		}
	}
	if found == 0 {
		return nil, problems, supportbundle.Fail(supportbundle.ReasonNoJournal, "this host has no journal in %s", strings.Join(journalDirs, " or "))
	}
	slices.SortStableFunc(out, func(a, b journalFile) int { return cmp.Or(a.head.Compare(b.head), cmp.Compare(a.path, b.path)) })
	return out, problems, nil
}

func span(path string) (journalFile, error) {
	f, size, err := open(path)
	if err != nil {
		return journalFile{}, err
	}
	defer f.Close()
	head, tail, err := journald.Span(f, size)
	return journalFile{path, head, tail}, err
}

func open(path string) (*os.File, int64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}

func read(ctx context.Context, path string, w supportbundle.Window, names []string, units map[string]*unit) (journald.Problems, error) {
	f, size, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return journald.Problems{}, nil
	}
	if err != nil {
		return journald.Problems{}, err
	}
	defer f.Close()
	return journald.Read(ctx, f, size, journald.Filter{Since: w.Since, Until: w.Until, Units: names}, func(e journald.Entry) error {
		return units[e.Unit].add(e)
	})
}

// unit is the journal of a unit while it is read.
type unit struct {
	text    *archive.Text
	redact  *redact.Redactor
	counts  redact.Counts // of messages with several lines
	entries int64
}

func (u *unit) add(e journald.Entry) error {
	u.entries++
	message := plain(e.Message)
	if strings.Contains(message, "\n") {
		var counts redact.Counts
		message, counts = u.redact.Text(message) // before its lines are indented
		u.counts.Add(counts)
		message = strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n    ")
	}
	_, err := fmt.Fprintf(u.text, "%s %s[%s]: %s\n", e.Time.Format("2006-01-02T15:04:05.000000Z"), plain(e.Identifier), plain(e.PID), message)
	return err
}

// plain escapes what acts on a terminal.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if !strings.ContainsFunc(text, special) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if special(r) {
			fmt.Fprintf(&out, `\x%02x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func special(r rune) bool { return r != '\t' && plaintext.Unprintable(r) }

func (u *unit) part(name string, problems journald.Problems, err error) archive.Part {
	p := u.text.Part(part(supportbundle.JournalPath(name), "journal of "+name))
	redact.Counts(p.Redactions).Add(u.counts)
	p.Items = u.entries
	if problems.First != nil {
		p.Note = fmt.Sprintf("of all units: %d damaged parts of journal files, %d messages with an unsupported compression; the first: %v",
			problems.Damaged, problems.Undecoded, problems.First)
	}
	failure, known := errors.AsType[*supportbundle.Failure](err)
	switch {
	case known:
		p.Error = &failure.BundleError
	case errors.Is(err, context.DeadlineExceeded):
		p.Error = &supportbundle.Fail(supportbundle.ReasonTimeout, "the journal was not read within the timeout").BundleError
	case errors.Is(err, context.Canceled):
		p.Error = &supportbundle.Fail(supportbundle.ReasonInterrupted, "the command was interrupted").BundleError
	case err != nil:
		p.Error = &supportbundle.Fail(supportbundle.ReasonReadFailed, "cannot read the journal: %v", err).BundleError
	}
	if p.Error != nil && len(p.Content) > 0 {
		p.Truncated = true
	}
	return p
}
