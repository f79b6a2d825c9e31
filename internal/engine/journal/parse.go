package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// parse parses the text of a journal. It returns the records and the number of valid bytes; an
// incomplete end follows them.
func parse(path, machineID string, text []byte) ([]node.Record, int64, error) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return nil, 0, damaged(path, "its first line is incomplete")
	}
	if err := parseHead(path, machineID, text[:end]); err != nil {
		return nil, 0, err
	}
	var records []node.Record
	at := end + 1
	for at < len(text) {
		length := bytes.IndexByte(text[at:], '\n')
		var line []byte
		if length >= 0 {
			line = text[at : at+length]
		}
		payload, ok := document(line)
		if !ok {
			break
		}
		var r node.Record
		if err := json.Unmarshal(payload, &r); err != nil {
			return nil, 0, damaged(path, "line %d is complete, but not a record: %v", len(records)+2, err)
		}
		records = append(records, r)
		at += length + 1
	}
	// The first record was written before the file had its name, so no interruption can have
	// damaged it.
	if len(records) == 0 {
		return nil, 0, damaged(path, "the checksum of its first record is wrong")
	}
	if !incomplete(text[at:]) {
		return nil, 0, damaged(path, "the checksum of line %d is wrong", len(records)+2)
	}
	return records, int64(at), nil
}

func parseHead(path, machineID string, line []byte) error {
	payload, ok := document(line)
	var head header
	if !ok || json.Unmarshal(payload, &head) != nil || head.Format < 1 {
		return damaged(path, "its first line is invalid")
	}
	if head.Format > Format {
		return node.ManualIntervention("JournalTooNew", nil, "Install the newer refit-agent again until the upgrade of this host has ended: `refit install`",
			"the journal %s has format %d; this refit-agent supports formats up to %d", path, head.Format, Format)
	}
	if head.Format < Format {
		return node.ManualIntervention("JournalTooOld", nil,
			"Finish or roll back the upgrade with the refit-agent that started it; if the host is healthy, run `refit-agent forget` with that version",
			"the journal %s has format %d; this refit-agent supports format %d", path, head.Format, Format)
	}
	if head.MachineID != machineID {
		return node.ManualIntervention("JournalOfAnotherMachine", nil,
			"If this disk was copied from another host, move the journal to another directory: `mv "+path+" /root/`",
			"the journal %s belongs to machine %s; this is machine %s", path, head.MachineID, machineID)
	}
	return nil
}

// incomplete distinguishes the result of an interrupted write from damage. Each record is on disk
// before the next is written, so it is at most one line and contains no complete record: a damaged
// newline joins two lines into one that looks incomplete.
func incomplete(tail []byte) bool {
	if end := bytes.IndexByte(tail, '\n'); end >= 0 && len(bytes.Trim(tail[end+1:], "\x00")) > 0 {
		return false
	}
	if len(tail) > MaxRecord+prefix+1 {
		return false
	}
	for at := range tail {
		line := tail[at:]
		if len(line) <= prefix || line[prefix-1] != ' ' || line[prefix] != '{' {
			continue
		}
		full, _, ended := bytes.Cut(line, []byte("\n"))
		if !ended {
			return true
		}
		if _, ok := document(full); ok {
			return false
		}
	}
	return true
}

func damaged(path, format string, args ...any) error {
	return node.HostBroken("JournalDamaged", nil,
		"Check the disk of the host (`dmesg`, `fsck`), restore the host manually, then move the journal to another directory: `mv "+path+" /root/`",
		"the journal %s is damaged: %s", path, fmt.Sprintf(format, args...))
}
