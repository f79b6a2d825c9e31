package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// parse reads a journal's text: its records, and how many bytes of it are good. What is behind those is the torn end.
func parse(path, machineID string, text []byte) ([]node.Record, int64, error) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return nil, 0, damaged(path, "its first line is not complete")
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
		word, ok := document(line)
		if !ok {
			break
		}
		var r node.Record
		if err := json.Unmarshal(word, &r); err != nil {
			return nil, 0, damaged(path, "line %d is whole but no record: %v", len(records)+2, err)
		}
		records = append(records, r)
		at += length + 1
	}
	// The first record was there before the file had its name, so nothing can have torn it.
	if len(records) == 0 {
		return nil, 0, damaged(path, "its first record is not as it was written")
	}
	if !torn(text[at:]) {
		return nil, 0, damaged(path, "line %d is not as it was written", len(records)+2)
	}
	return records, int64(at), nil
}

func parseHead(path, machineID string, line []byte) error {
	word, ok := document(line)
	var head header
	if !ok || json.Unmarshal(word, &head) != nil || head.Format < 1 {
		return damaged(path, "its first line is not as it was written")
	}
	if head.Format > Format {
		return node.ManualIntervention("JournalTooNew", nil, "run the newer refit-agent that wrote it until the work has ended",
			"the journal %s has format %d, this refit-agent knows formats up to %d", path, head.Format, Format)
	}
	if head.MachineID != machineID {
		return node.ManualIntervention("JournalOfAnotherMachine", nil, "if this disk was copied from another host, move the journal away",
			"the journal %s is of machine %s, this is %s", path, head.MachineID, machineID)
	}
	return nil
}

// torn tells what one unfinished write can leave from damage. Each record is on the disk before the next is written, so it is at most one line, and no record
// that was once finished is in it: a newline that went bad joins two lines into one that looks torn.
func torn(tail []byte) bool {
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
		whole, _, ended := bytes.Cut(line, []byte("\n"))
		if !ended {
			return true
		}
		if _, ok := document(whole); ok {
			return false
		}
	}
	return true
}

func damaged(path, format string, args ...any) error {
	return node.HostBroken("JournalDamaged", nil, "check the host's disk, then bring the host to a known state by hand and move the journal away",
		"the journal %s is damaged: %s", path, fmt.Sprintf(format, args...))
}
